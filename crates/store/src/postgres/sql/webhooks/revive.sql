UPDATE deliveries
SET attempts = 0, last_error = NULL, due_at = 0, queued_at = gannet_now(), given_up_at = NULL, expires_at = NULL
WHERE team_id = $1 AND id = $2 AND given_up_at IS NOT NULL
