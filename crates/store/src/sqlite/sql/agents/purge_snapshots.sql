DELETE FROM agent_snapshots
WHERE (run_id, id) IN (
    SELECT one.run_id, one.id
    FROM (SELECT id FROM agent_runs WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) gone
    JOIN agent_snapshots one ON one.run_id = gone.id
    LIMIT ?2
)
