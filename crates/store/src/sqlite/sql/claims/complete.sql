-- A claim that lapsed and was deleted is written again; one that somebody else holds by now is left alone.
INSERT INTO claims (team_id, hash, expires_at, resource, done) VALUES (?1, ?2, ?3, ?4, 1)
ON CONFLICT (team_id, hash) DO UPDATE SET expires_at = excluded.expires_at, done = 1
WHERE claims.resource = excluded.resource
