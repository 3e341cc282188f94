DELETE FROM agent_events
WHERE (run_id, number) IN (
    SELECT one.run_id, one.number
    FROM (SELECT id FROM agent_runs WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) gone
    JOIN agent_events one ON one.run_id = gone.id
    LIMIT ?2
)
