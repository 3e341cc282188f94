INSERT INTO scrapes (id, team_id, key_id, ok, private, credits, created_at, expires_at, bytes, request, url, error, result)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (id) DO NOTHING
