SELECT 1 FROM agent_runs WHERE state = 0 AND lost <= ?1 LIMIT 1
