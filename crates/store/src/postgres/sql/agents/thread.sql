SELECT id, created_at, updated_at FROM agent_threads WHERE id = $1 AND team_id = $2
