-- Snapshots for change tracking.

-- name: delete (sqlite)
DELETE FROM snapshots WHERE team_id = $1 AND key = $2 AND taken_at = $3

-- name: delete (postgres)
-- As they were read: one that was taken anew since then stays.
DELETE FROM snapshots
WHERE (team_id, key) IN (
    SELECT s.team_id, s.key
    FROM snapshots s
    JOIN unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS e (team_id, key, taken_at)
        ON s.team_id = e.team_id AND s.key = e.key AND s.taken_at = e.taken_at
    FOR UPDATE OF s SKIP LOCKED
)

-- name: get
SELECT taken_at, body FROM snapshots WHERE team_id = $1 AND key = $2

-- name: insert
INSERT INTO snapshots (team_id, key, taken_at, bytes, url, tag, body)
VALUES ($1, $2, gannet_now(), $3, $4, $5, $6)
ON CONFLICT DO NOTHING

-- name: lock
SELECT taken_at, body FROM snapshots WHERE team_id = $1 AND key = $2 FOR UPDATE

-- name: oldest
SELECT team_id, key, taken_at AS at, bytes FROM snapshots ORDER BY taken_at, team_id, key LIMIT $1

-- name: update
UPDATE snapshots SET taken_at = gannet_now(), bytes = $3, url = $4, tag = $5, body = $6
WHERE team_id = $1 AND key = $2
