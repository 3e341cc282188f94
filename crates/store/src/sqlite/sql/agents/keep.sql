UPDATE agent_runs
SET lease_until = ?4
WHERE id = ?1 AND state = 1 AND lease_owner = ?2 AND lease_number = ?3
RETURNING cancel_requested_at
