-- The lock of the run makes the numbers sure.
INSERT INTO agent_events (run_id, number, id, actor, sequence, written_at, body)
VALUES (
    $1, (SELECT coalesce(max(number), 0) + 1 FROM agent_events WHERE run_id = $1), $2, $3,
    (SELECT coalesce(max(sequence), 0) + 1 FROM agent_events WHERE run_id = $1 AND actor = $3), $4, $5
)
ON CONFLICT (run_id, id) DO NOTHING
