UPDATE agent_runs
SET state = 1, lease_number = lease_number + 1, lease_owner = ?2, lease_until = ?3,
    deadline_at = coalesce(deadline_at, ?4 + run_for)
WHERE id = ?1 AND state = 0
RETURNING id, lease_number
