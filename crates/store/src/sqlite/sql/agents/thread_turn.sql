UPDATE agent_threads SET turns = turns + 1, updated_at = ?2 WHERE id = ?1
