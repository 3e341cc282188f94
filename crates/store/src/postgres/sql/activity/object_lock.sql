SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE key = $1 FOR UPDATE
