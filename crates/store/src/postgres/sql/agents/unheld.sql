SELECT id, team_id, key_id, kind, thread_id, reservation, credits, max_credits, gannet_now() AS now
FROM agent_runs
WHERE id = $1 AND state = 0
FOR NO KEY UPDATE
