UPDATE agent_threads SET updated_at = max(updated_at, ?2) WHERE id = ?1
