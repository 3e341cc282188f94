-- Browser profiles and their leases.

-- name: acquire
INSERT INTO profiles AS p (team_id, name, owner, lease_until, used_at)
VALUES ($1, $2, $3, gannet_now() + $4, gannet_now())
ON CONFLICT (team_id, name) DO UPDATE SET
    owner       = excluded.owner,
    lease_until = excluded.lease_until,
    used_at     = excluded.used_at
WHERE p.lease_until <= gannet_now()

-- name: count
SELECT count(*) AS held FROM profiles WHERE team_id = $1

-- name: delete
DELETE FROM profiles WHERE team_id = $1 AND name = $2 AND state IS NOT NULL AND lease_until <= gannet_now()

-- name: forget_unsaved
DELETE FROM profiles WHERE team_id = $1 AND name = $2 AND owner = $3 AND state IS NULL

-- name: get
SELECT state, gannet_now() - used_at AS rested FROM profiles WHERE team_id = $1 AND name = $2 AND state IS NOT NULL

-- name: list
SELECT name, length(state)::bigint AS bytes, used_at, CASE WHEN lease_until > gannet_now() THEN 1 ELSE 0 END::bigint AS leased
FROM profiles
WHERE team_id = $1 AND state IS NOT NULL
ORDER BY name

-- name: lock (postgres)
-- Acquiring takes turns per team, so that the count of its profiles holds; the lock goes with the transaction.
SELECT pg_advisory_xact_lock(1735289203, hashtext($1::text))

-- name: release
UPDATE profiles SET owner = NULL, lease_until = 0 WHERE team_id = $1 AND name = $2 AND owner = $3

-- name: renew
UPDATE profiles SET lease_until = gannet_now() + $4
WHERE team_id = $1 AND name = $2 AND owner = $3 AND lease_until > gannet_now()

-- name: save
UPDATE profiles SET state = $4, used_at = gannet_now()
WHERE team_id = $1 AND name = $2 AND owner = $3 AND lease_until > gannet_now()

-- name: sweep
DELETE FROM profiles
WHERE (team_id, name) IN (
    SELECT team_id, name FROM profiles
    WHERE lease_until <= gannet_now() AND (used_at <= gannet_now() - $1 OR state IS NULL)
    ORDER BY used_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)

-- name: touch
UPDATE profiles SET used_at = gannet_now() WHERE team_id = $1 AND name = $2
