SELECT id, ok, private, credits, created_at, url, error, result
FROM scrapes
WHERE team_id = ?1 AND request = ?2 AND expires_at > ?3
ORDER BY number DESC
LIMIT 1
