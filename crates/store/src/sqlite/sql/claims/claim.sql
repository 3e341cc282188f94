INSERT INTO claims (team_id, hash, expires_at) VALUES (?1, ?2, ?4)
ON CONFLICT (team_id, hash) DO UPDATE SET expires_at = excluded.expires_at WHERE claims.expires_at <= ?3
