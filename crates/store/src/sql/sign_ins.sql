-- Sign-ins of people who use the dashboard.

-- name: end
DELETE FROM sign_ins WHERE hash = $1 RETURNING key_id

-- name: end_all
DELETE FROM sign_ins WHERE key_id = $1

-- name: get
SELECT k.id, k.team_id, k.name, k.hint, k.scopes, k.created_at, k.expires_at, k.last_used_at, k.revoked_at,
       t.name AS team_name, t.plan AS team_plan, t.zero_data_retention AS team_zero_data_retention,
       t.created_at AS team_created_at, s.expires_at AS sign_in_expires_at
FROM sign_ins s
JOIN keys_in_force k ON k.id = s.key_id
JOIN teams t ON t.id = k.team_id
WHERE s.hash = $1 AND s.expires_at > gannet_now()
  AND NOT EXISTS (SELECT 1 FROM authorizations a WHERE a.key_id = s.key_id)

-- name: purge
DELETE FROM sign_ins
WHERE hash IN (
    SELECT hash FROM sign_ins WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)

-- name: start
-- Not for a key that a person gave to a client: its secrets last for an hour and are renewed, the cookie would stay.
INSERT INTO sign_ins (hash, key_id, expires_at)
SELECT $1::bytea, $2::uuid, gannet_now() + $3
WHERE NOT EXISTS (SELECT 1 FROM authorizations WHERE key_id = $2)
RETURNING expires_at

-- name: trim
-- A key has a bounded number of them: the ones that end first make room.
DELETE FROM sign_ins
WHERE key_id = $1 AND hash NOT IN (
    SELECT hash FROM sign_ins WHERE key_id = $1 ORDER BY expires_at DESC, hash LIMIT $2
)
