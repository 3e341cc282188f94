-- Not at once: a turn that is being accepted comes first.
DELETE FROM agent_threads
WHERE id IN (
    SELECT t.id FROM agent_threads t
    WHERE t.updated_at <= ?1 - 60000 AND NOT EXISTS (SELECT 1 FROM agent_runs WHERE thread_id = t.id)
    ORDER BY t.updated_at
    LIMIT ?2
)
