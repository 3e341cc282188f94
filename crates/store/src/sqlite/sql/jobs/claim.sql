UPDATE jobs
SET state        = 1,
    attempts     = attempts + 1,
    lease_number = lease_number + 1,
    lease_owner  = ?2,
    lease_until  = ?3,
    started_at   = coalesce(started_at, ?4)
WHERE id = ?1 AND state = 0
RETURNING id, team_id, parent_id, kind, payload, state, rank, attempts, max_attempts, cancel_requested, reservation,
       result, error, children_total, children_open, children_completed, children_failed, children_cancelled,
       created_at, run_at, deadline_at, started_at, finished_at, expires_at, lease_number
