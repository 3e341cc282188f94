SELECT *, gannet_now() AS now FROM agent_runs_whole WHERE id = $1
