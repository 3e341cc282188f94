SELECT *, ?3 AS now FROM agent_runs_whole WHERE id = ?1 AND team_id = ?2
