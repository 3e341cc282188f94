UPDATE agent_threads SET updated_at = greatest(updated_at, $2) WHERE id = $1
