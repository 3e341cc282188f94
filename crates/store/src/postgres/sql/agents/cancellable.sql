SELECT r.state, r.cancel_requested_at, gannet_now() AS now
FROM agent_runs r
JOIN agent_luggage l ON l.run_id = r.id
WHERE r.id = $1 AND r.team_id = $2
FOR NO KEY UPDATE OF r
