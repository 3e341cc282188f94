INSERT INTO claims AS c (team_id, hash, expires_at) VALUES ($1, $2, gannet_now() + $3)
ON CONFLICT (team_id, hash) DO UPDATE SET expires_at = excluded.expires_at WHERE c.expires_at <= gannet_now()
