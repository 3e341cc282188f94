SELECT *, ?5 AS now
FROM agent_runs_whole
WHERE team_id = ?1 AND kind = ?2 AND created_at < ?3
ORDER BY created_at DESC
LIMIT ?4
