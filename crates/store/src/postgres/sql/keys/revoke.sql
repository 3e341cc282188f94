UPDATE api_keys SET revoked_at = coalesce(revoked_at, gannet_now()) WHERE team_id = $1 AND id = $2
