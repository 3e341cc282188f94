-- A claim that lapsed and was deleted is written again; one that somebody else holds by now is left alone.
INSERT INTO claims AS c (team_id, hash, expires_at, resource, done)
SELECT team_id, hash, gannet_now() + keep_for, resource, TRUE
FROM unnest($1::uuid[], $2::bytea[], $3::bigint[], $4::uuid[]) AS n (team_id, hash, keep_for, resource)
ORDER BY team_id, hash
ON CONFLICT (team_id, hash) DO UPDATE SET expires_at = excluded.expires_at, done = TRUE
WHERE c.resource = excluded.resource
