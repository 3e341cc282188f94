SELECT key, team_id, bytes, created_at, expires_at FROM objects ORDER BY expires_at, key LIMIT $1
