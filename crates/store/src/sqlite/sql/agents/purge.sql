-- Only what has nothing of its own left: everything else went before.
DELETE FROM agent_runs
WHERE id IN (
    SELECT r.id FROM agent_runs r
    WHERE r.expires_at <= ?1
      AND NOT EXISTS (SELECT 1 FROM agent_luggage WHERE run_id = r.id)
      AND NOT EXISTS (SELECT 1 FROM agent_snapshots WHERE run_id = r.id)
      AND NOT EXISTS (SELECT 1 FROM agent_events WHERE run_id = r.id)
    ORDER BY r.expires_at
    LIMIT ?2
)
