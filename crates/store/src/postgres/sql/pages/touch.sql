UPDATE pages SET fetched_at = gannet_now(), expires_at = gannet_now() + keep_for
WHERE team_id = $1 AND key = $2 AND expires_at > gannet_now()
