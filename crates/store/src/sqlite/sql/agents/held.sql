SELECT id, team_id, key_id, kind, thread_id, reservation, credits, max_credits
FROM agent_runs
WHERE id = ?1 AND state = 1 AND lease_owner = ?2 AND lease_number = ?3
