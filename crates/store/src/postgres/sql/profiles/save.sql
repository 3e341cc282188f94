UPDATE profiles SET state = $4, used_at = gannet_now()
WHERE team_id = $1 AND name = $2 AND owner = $3 AND lease_until > gannet_now()
