SELECT max(created_at) AS created_at FROM agent_runs WHERE team_id = ?1
