-- How the children of a parent stand after some were created or ended.
UPDATE jobs
SET children_total     = children_total + $2,
    children_completed = children_completed + $3,
    children_failed    = children_failed + $4,
    children_cancelled = children_cancelled + $5
WHERE id = $1
RETURNING state, cancel_requested, children_open
