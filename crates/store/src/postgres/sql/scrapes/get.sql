SELECT id, ok, private, credits, created_at, url, error, result
FROM scrapes
WHERE team_id = $1 AND id = $2 AND expires_at > gannet_now()
