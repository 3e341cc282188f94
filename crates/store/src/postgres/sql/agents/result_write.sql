UPDATE agent_luggage SET result = $2 WHERE run_id = $1
