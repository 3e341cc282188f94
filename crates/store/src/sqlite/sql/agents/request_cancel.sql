UPDATE agent_runs SET cancel_requested_at = ?2 WHERE id = ?1
