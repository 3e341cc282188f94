SELECT *, ?2 AS now FROM agent_runs_whole WHERE id = ?1
