-- Whoever writes about a run right now is not lost.
UPDATE agent_runs
SET state = 0, lost = lost + 1, lease_owner = NULL, lease_until = NULL
WHERE id = ANY (ARRAY(
    SELECT id FROM agent_runs
    WHERE state = 1 AND lease_until <= gannet_now()
    ORDER BY lease_until
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
))
