-- What teams did lately.

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

-- name: purge
DELETE FROM activity
WHERE id IN (
    SELECT id FROM activity
    WHERE created_at < gannet_now() - $1
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
