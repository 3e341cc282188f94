SELECT number FROM agent_events WHERE run_id = ?1 AND id = ?2
