-- Files that wait to be parsed.

-- name: claim
UPDATE uploads SET state = 2
WHERE id = $1 AND team_id = $2 AND state = 1 AND expires_at > gannet_now()
RETURNING object, bytes

-- name: create
INSERT INTO uploads (id, team_id, state, bytes, expires_at)
VALUES ($1, $2, 0, $3, gannet_now() + $4)
RETURNING expires_at

-- name: get
SELECT team_id, state, bytes FROM uploads WHERE id = $1 AND expires_at > gannet_now()

-- name: lock (postgres)
-- One transaction at a time counts what a team has unparsed; the lock ends with the transaction.
SELECT pg_advisory_xact_lock(1735289205, hashtext($1::text))

-- name: purge
DELETE FROM uploads
WHERE id IN (
    SELECT id FROM uploads WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)

-- name: receive
UPDATE uploads SET state = 1, object = $2, bytes = $3
WHERE id = $1 AND state = 0 AND expires_at > gannet_now()

-- name: release
UPDATE uploads SET state = 1 WHERE id = $1 AND team_id = $2 AND state = 2

-- name: unparsed
SELECT count(*) AS uploads, coalesce(sum(bytes), 0)::bigint AS bytes
FROM uploads
WHERE team_id = $1 AND state < 2 AND expires_at > gannet_now()
