UPDATE agent_runs
SET state = 0, lease_owner = NULL, lease_until = NULL
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3
