INSERT INTO agent_threads (id, team_id, turns, created_at, updated_at) VALUES ($1, $2, 1, $3, $3)
