-- The audit log of each team.

-- name: insert
INSERT INTO audit_log
    (id, team_id, action, actor_kind, actor_key, actor_name, address, subject, details, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, gannet_now())

-- name: list
SELECT id, action, actor_kind, actor_key, actor_name, address, subject, details, created_at
FROM audit_log
WHERE team_id = $1 AND id < $2
  AND ($3::text IS NULL OR substr(action, 1, length($3::text)) = $3)
  AND ($4::uuid IS NULL OR actor_key = $4 OR subject = $4)
  AND created_at >= $5 AND created_at < $6
ORDER BY id DESC
LIMIT $7

-- name: large_teams
SELECT team_id FROM audit_log GROUP BY team_id HAVING count(*) > $1 ORDER BY team_id LIMIT $2

-- name: purge
DELETE FROM audit_log
WHERE id IN (
    SELECT id FROM audit_log WHERE created_at < gannet_now() - $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
)

-- name: trim
DELETE FROM audit_log
WHERE id IN (
    SELECT id FROM audit_log
    WHERE team_id = $1
      AND id <= (SELECT id FROM audit_log WHERE team_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)
    ORDER BY id
    LIMIT $3
    FOR UPDATE SKIP LOCKED
)
