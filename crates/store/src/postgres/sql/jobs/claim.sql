-- Passes over rows that a cancellation or the sweeper holds just now.
WITH free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY ($1) AND state = 0 FOR UPDATE SKIP LOCKED
)
UPDATE jobs j
SET state        = 1,
    attempts     = j.attempts + 1,
    lease_number = j.lease_number + 1,
    lease_owner  = $2,
    lease_until  = gannet_now() + $3,
    started_at   = coalesce(j.started_at, gannet_now())
FROM free f
WHERE j.id = f.id
RETURNING j.id, j.team_id, j.parent_id, j.kind, j.payload, j.state, j.rank, j.attempts, j.max_attempts,
       j.cancel_requested, j.reservation, j.result, j.error, j.children_total, j.children_open,
       j.children_completed, j.children_failed, j.children_cancelled, j.created_at, j.run_at, j.deadline_at,
       j.started_at, j.finished_at, j.expires_at, j.lease_number, gannet_now() AS now
