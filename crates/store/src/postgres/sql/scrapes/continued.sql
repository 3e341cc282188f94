SELECT id, ok, private, credits, created_at, url, error, result
FROM scrapes
WHERE team_id = $1 AND request = $2 AND expires_at > gannet_now()
ORDER BY created_at DESC, id DESC
LIMIT 1
