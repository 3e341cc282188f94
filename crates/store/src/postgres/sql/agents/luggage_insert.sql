INSERT INTO agent_luggage (run_id, request) VALUES ($1, $2)
