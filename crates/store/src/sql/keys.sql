-- Teams and API keys.

-- name: any_team
SELECT EXISTS (SELECT 1 FROM teams) AS present

-- name: first_team_lock (postgres)
-- Only one transaction at a time may create the first team.
SELECT pg_advisory_xact_lock(1735289200, 'teams'::regclass::oid::int)

-- name: team_insert
INSERT INTO teams (id, name, plan, zero_data_retention, created_at)
VALUES ($1, $2, $3, $4, gannet_now())
RETURNING id, name, plan, zero_data_retention, created_at

-- name: team
SELECT id, name, plan, zero_data_retention, created_at FROM teams WHERE id = $1

-- name: teams
SELECT id, name, plan, zero_data_retention, created_at FROM teams ORDER BY created_at, id

-- name: set_plan
UPDATE teams SET plan = $2 WHERE id = $1

-- name: key_insert
INSERT INTO api_keys (id, team_id, name, hint, hash, scopes, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now(), $7)
RETURNING id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at

-- name: key_by_hash
-- A secret that was replaced stands for its key until it ends.
SELECT k.id, k.team_id, k.name, k.hint, k.scopes, k.created_at,
       least(coalesce(k.expires_at, r.expires_at), coalesce(r.expires_at, k.expires_at)) AS expires_at,
       k.last_used_at, k.revoked_at,
       t.name AS team_name, t.plan AS team_plan, t.zero_data_retention AS team_zero_data_retention,
       t.created_at AS team_created_at
FROM (
    SELECT id, NULL::bigint AS expires_at FROM api_keys WHERE hash = $1
    UNION ALL
    SELECT key_id, expires_at FROM replaced_secrets WHERE hash = $1
) r
JOIN keys_in_force k ON k.id = r.id
JOIN teams t ON t.id = k.team_id

-- name: keys
SELECT id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at
FROM keys_in_force
WHERE team_id = $1
ORDER BY created_at, id

-- name: key
SELECT id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at FROM api_keys WHERE id = $1

-- name: revoke
UPDATE api_keys SET revoked_at = gannet_now() WHERE team_id = $1 AND id = $2 AND revoked_at IS NULL
RETURNING id, name

-- name: known
SELECT EXISTS (SELECT 1 FROM api_keys WHERE team_id = $1 AND id = $2) AS known

-- name: owner
SELECT team_id, name FROM api_keys WHERE id = $1

-- name: hosts
SELECT hosts FROM key_hosts WHERE key_id = $1

-- name: hosts_of_team
SELECT h.key_id, h.hosts FROM key_hosts h JOIN api_keys k ON k.id = h.key_id WHERE k.team_id = $1

-- name: inherit_hosts
INSERT INTO key_hosts (key_id, hosts)
SELECT a.key_id, h.hosts FROM authorizations a JOIN key_hosts h ON h.key_id = a.approver_id WHERE a.key_id = $1

-- name: lock_approver
-- Whoever changes the hosts of this key waits until the new key has inherited them.
SELECT id FROM api_keys WHERE id = (SELECT approver_id FROM authorizations WHERE key_id = $1) FOR UPDATE

-- name: drop_hosts
DELETE FROM key_hosts
WHERE key_id = $1 OR key_id IN (SELECT a.key_id FROM authorizations a WHERE a.approver_id = $1)

-- name: hand_on_hosts
INSERT INTO key_hosts (key_id, hosts)
SELECT k.id, h.hosts
FROM authorizations a
JOIN api_keys k ON k.id = a.key_id
JOIN key_hosts h ON h.key_id = a.approver_id
WHERE a.approver_id = $1

-- name: insert_hosts
INSERT INTO key_hosts (key_id, hosts) VALUES ($1, $2)

-- name: lock_key
SELECT revoked_at IS NULL AND (expires_at IS NULL OR expires_at > gannet_now()) AS active,
       EXISTS (SELECT 1 FROM authorizations a WHERE a.key_id = api_keys.id) AS of_client
FROM api_keys
WHERE team_id = $1 AND id = $2 FOR UPDATE

-- name: keep_secret
INSERT INTO replaced_secrets (hash, key_id, hint, expires_at)
SELECT hash, id, hint, least(gannet_now() + $2, coalesce(expires_at, gannet_now() + $2))
FROM api_keys WHERE id = $1

-- name: next_secret
UPDATE api_keys SET hash = $2, hint = $3, expires_at = coalesce($4, expires_at) WHERE id = $1
RETURNING id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at

-- name: shorten_sign_ins
UPDATE sign_ins SET expires_at = least(expires_at, gannet_now() + $2) WHERE key_id = $1

-- name: replaced_secrets
SELECT r.key_id, r.hint, r.expires_at
FROM replaced_secrets r
JOIN keys_in_force k ON k.id = r.key_id
WHERE k.team_id = $1 AND k.revoked_at IS NULL AND r.expires_at > gannet_now()
ORDER BY r.expires_at, r.hash

-- name: touch (sqlite)
UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)

-- name: touch (postgres)
-- Locks in the order of ids, so that processes that note the same keys do not block each other for good.
WITH used AS (
    SELECT id, max(at) AS at FROM unnest($1::uuid[], $2::bigint[]) AS u (id, at) GROUP BY id
),
locked AS (
    SELECT k.id, u.at
    FROM api_keys k
    JOIN used u ON u.id = k.id
    WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
    ORDER BY k.id
    FOR NO KEY UPDATE OF k
)
UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, l.at) FROM locked l WHERE k.id = l.id
