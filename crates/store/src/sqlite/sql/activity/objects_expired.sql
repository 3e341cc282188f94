SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE expires_at <= ?1 ORDER BY expires_at, key LIMIT ?2
