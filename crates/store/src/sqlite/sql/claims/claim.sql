INSERT INTO claims (team_id, hash, expires_at, resource, done) VALUES (?1, ?2, ?4, ?5, ?6)
ON CONFLICT (team_id, hash) DO UPDATE
SET expires_at = excluded.expires_at, resource = excluded.resource, done = excluded.done
WHERE claims.expires_at <= ?3
