UPDATE agent_luggage SET artifact = $2 WHERE run_id = $1
