-- Claimed idempotency keys.

-- name: claim
INSERT INTO idempotency_keys AS k (team_id, hash, expires_at, resource, done) VALUES ($1, $2, gannet_now() + $3, $4, $5)
ON CONFLICT (team_id, hash) DO UPDATE
SET expires_at = excluded.expires_at, resource = excluded.resource, done = excluded.done
WHERE k.expires_at <= gannet_now()

-- name: complete (sqlite)
-- A claim that lapsed and was deleted is written again; one that somebody else holds by now is left alone.
INSERT INTO idempotency_keys (team_id, hash, expires_at, resource, done) VALUES ($1, $2, gannet_now() + $3, $4, TRUE)
ON CONFLICT (team_id, hash) DO UPDATE SET expires_at = excluded.expires_at, done = TRUE
WHERE idempotency_keys.resource = excluded.resource

-- name: complete (postgres)
-- A claim that lapsed and was deleted is written again; one that somebody else holds by now is left alone.
INSERT INTO idempotency_keys AS k (team_id, hash, expires_at, resource, done)
SELECT team_id, hash, gannet_now() + keep_for, resource, TRUE
FROM unnest($1::uuid[], $2::bytea[], $3::bigint[], $4::uuid[]) AS n (team_id, hash, keep_for, resource)
ORDER BY team_id, hash
ON CONFLICT (team_id, hash) DO UPDATE SET expires_at = excluded.expires_at, done = TRUE
WHERE k.resource = excluded.resource

-- name: holder
SELECT resource, done FROM idempotency_keys WHERE team_id = $1 AND hash = $2 AND expires_at > gannet_now()

-- name: purge
DELETE FROM idempotency_keys
WHERE (team_id, hash) IN (
    SELECT team_id, hash FROM idempotency_keys
    WHERE expires_at <= gannet_now()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: release (sqlite)
DELETE FROM idempotency_keys WHERE team_id = $1 AND hash = $2 AND resource = $3 AND NOT done

-- name: release (postgres)
DELETE FROM idempotency_keys k
USING unnest($1::uuid[], $2::bytea[], $3::uuid[]) AS n (team_id, hash, resource)
WHERE k.team_id = n.team_id AND k.hash = n.hash AND k.resource = n.resource AND NOT k.done

-- name: release_pending
DELETE FROM idempotency_keys WHERE NOT done
