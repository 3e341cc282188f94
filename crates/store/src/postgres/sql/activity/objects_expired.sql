SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE expires_at <= gannet_now() ORDER BY expires_at, key LIMIT $1
