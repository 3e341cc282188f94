SELECT id, team_id, parent_id, kind, payload, state, rank, attempts, max_attempts, cancel_requested, reservation,
       result, error, children_total, children_open, children_completed, children_failed, children_cancelled,
       created_at, run_at, deadline_at, started_at, finished_at, expires_at
FROM jobs
WHERE id = $1 AND team_id = $2
