-- The index of stored objects.

-- name: get
SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE key = $1

-- name: forget (sqlite)
DELETE FROM objects WHERE key = $1 AND expires_at = $2 RETURNING team_id, bytes

-- name: forget (postgres)
WITH gone AS (
    SELECT o.key
    FROM objects o
    JOIN unnest($1::text[], $2::bigint[]) AS e (key, expires_at) ON o.key = e.key AND o.expires_at = e.expires_at
    ORDER BY o.key
    FOR UPDATE OF o
)
DELETE FROM objects o USING gone g WHERE o.key = g.key RETURNING o.team_id, o.bytes

-- name: insert
INSERT INTO objects (key, team_id, bytes, created_at, expires_at)
VALUES ($1, $2, $3, gannet_now(), gannet_now() + $4)
ON CONFLICT DO NOTHING

-- name: lock
SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE key = $1 FOR UPDATE

-- name: total
SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM object_totals

-- name: total_add
INSERT INTO object_totals AS t (team_id, bytes) VALUES ($1, $2)
ON CONFLICT (team_id) DO UPDATE SET bytes = t.bytes + $2

-- name: update
-- The expiry always changes: with it a sweep can tell that an object was noted anew since it looked.
UPDATE objects
SET bytes      = $2,
    expires_at = gannet_now() + $3 + CASE WHEN expires_at = gannet_now() + $3 THEN 1 ELSE 0 END
WHERE key = $1

-- name: expired
SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE expires_at <= gannet_now() ORDER BY expires_at, key LIMIT $1

-- name: soonest
SELECT key, team_id, bytes, created_at, expires_at FROM objects ORDER BY expires_at, key LIMIT $1

-- name: bytes_under
-- What begins with a prefix, by its letters: collations may order keys otherwise.
SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM objects WHERE substr(key, 1, length($1::text)) = $1

-- name: oldest_under
SELECT key, team_id, bytes, created_at, expires_at FROM objects
WHERE substr(key, 1, length($1::text)) = $1
ORDER BY created_at, key
LIMIT $2
