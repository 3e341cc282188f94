INSERT INTO claims AS c (team_id, hash, expires_at, resource, done) VALUES ($1, $2, gannet_now() + $3, $4, $5)
ON CONFLICT (team_id, hash) DO UPDATE
SET expires_at = excluded.expires_at, resource = excluded.resource, done = excluded.done
WHERE c.expires_at <= gannet_now()
