SELECT state, cancel_requested_at FROM agent_runs_whole WHERE id = ?1 AND team_id = ?2
