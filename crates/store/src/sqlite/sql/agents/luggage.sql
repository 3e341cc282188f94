SELECT artifact, result FROM agent_luggage WHERE run_id = ?1
