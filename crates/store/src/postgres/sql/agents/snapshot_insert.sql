INSERT INTO agent_snapshots (run_id, id, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
