UPDATE agent_runs
SET state = 0, lost = lost + 1, lease_owner = NULL, lease_until = NULL
WHERE id IN (SELECT id FROM agent_runs WHERE state = 1 AND lease_until <= ?1 ORDER BY lease_until LIMIT ?2)
