DELETE FROM agent_luggage
WHERE run_id IN (SELECT id FROM agent_runs WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
