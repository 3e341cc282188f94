SELECT id FROM agent_runs WHERE thread_id = ?1 AND state <= 1 LIMIT 1
