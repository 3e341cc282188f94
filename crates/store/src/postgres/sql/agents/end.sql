UPDATE agent_runs
SET state = $2, error = $3, lease_owner = NULL, lease_until = NULL, finished_at = $4, expires_at = $4 + retain_for
WHERE id = $1
