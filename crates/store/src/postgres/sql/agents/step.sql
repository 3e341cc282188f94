UPDATE agent_runs
SET credits = greatest(credits, $2), events = events + $3, event_bytes = event_bytes + $4,
    snapshot_bytes = snapshot_bytes + $5
WHERE id = $1
