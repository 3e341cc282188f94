SELECT *, gannet_now() AS now FROM agent_runs_whole WHERE thread_id = $1 ORDER BY turn DESC LIMIT $2
