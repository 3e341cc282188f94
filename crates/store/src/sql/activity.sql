-- Activity and the index of stored objects.

-- name: insert
INSERT INTO activity (id, team_id, key_id, endpoint, target, created_at)
VALUES ($1, $2, $3, $4, $5, gannet_now())
ON CONFLICT DO NOTHING

-- name: insert_audited
INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now())
ON CONFLICT DO NOTHING

-- name: list
SELECT id, endpoint, target, audit, created_at
FROM activity
WHERE team_id = $1
  AND ($2::text IS NULL OR endpoint = $2)
  AND id < $3
  AND created_at >= gannet_now() - $4
  AND ($6::text[] IS NULL OR key_id = $7 OR endpoint = ANY ($6))
ORDER BY id DESC
LIMIT $5

-- name: object
SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE key = $1

-- name: object_forget (sqlite)
DELETE FROM objects WHERE key = $1 AND expires_at = $2 RETURNING team_id, bytes

-- name: object_forget (postgres)
WITH gone AS (
    SELECT o.key
    FROM objects o
    JOIN unnest($1::text[], $2::bigint[]) AS e (key, expires_at) ON o.key = e.key AND o.expires_at = e.expires_at
    ORDER BY o.key
    FOR UPDATE OF o
)
DELETE FROM objects o USING gone g WHERE o.key = g.key RETURNING o.team_id, o.bytes

-- name: object_insert
INSERT INTO objects (key, team_id, bytes, created_at, expires_at)
VALUES ($1, $2, $3, gannet_now(), gannet_now() + $4)
ON CONFLICT DO NOTHING

-- name: object_lock
SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE key = $1 FOR UPDATE

-- name: object_total
SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM object_totals

-- name: object_total_add
INSERT INTO object_totals AS t (team_id, bytes) VALUES ($1, $2)
ON CONFLICT (team_id) DO UPDATE SET bytes = t.bytes + $2

-- name: object_update
-- The expiry always changes: with it a sweep can tell that an object was noted anew since it looked.
UPDATE objects
SET bytes      = $2,
    expires_at = gannet_now() + $3 + CASE WHEN expires_at = gannet_now() + $3 THEN 1 ELSE 0 END
WHERE key = $1

-- name: objects_expired
SELECT key, team_id, bytes, created_at, expires_at FROM objects WHERE expires_at <= gannet_now() ORDER BY expires_at, key LIMIT $1

-- name: objects_soonest
SELECT key, team_id, bytes, created_at, expires_at FROM objects ORDER BY expires_at, key LIMIT $1

-- name: purge
DELETE FROM activity
WHERE id IN (
    SELECT id FROM activity
    WHERE created_at < gannet_now() - $1
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
