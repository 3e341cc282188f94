-- Clients of OAuth and what people allowed them.

-- name: by_code
SELECT a.key_id, a.team_id, a.client, a.name, a.redirect_uri, a.challenge, a.scopes,
       p.expires_at AS approver_expires_at
FROM authorizations a
LEFT JOIN api_keys p ON p.id = a.approver_id
WHERE a.code_hash = $1

-- name: by_family
SELECT a.key_id, a.team_id, a.client, a.name, a.redirect_uri, a.challenge, a.scopes,
       p.expires_at AS approver_expires_at
FROM authorizations a
LEFT JOIN api_keys p ON p.id = a.approver_id
WHERE a.family_hash = $1

-- name: client
SELECT id, name, redirect_uris FROM oauth_clients WHERE id = $1 AND expires_at > gannet_now()

-- name: create_client
INSERT INTO oauth_clients (id, name, redirect_uris, expires_at) VALUES ($1, $2, $3, gannet_now() + $4)

-- name: delete
DELETE FROM authorizations WHERE key_id = $1

-- name: expired
SELECT key_id FROM authorizations WHERE expires_at <= gannet_now() - 86400000 ORDER BY expires_at LIMIT $1

-- name: insert
-- A key that was given to a client must not allow other clients.
INSERT INTO authorizations
    (key_id, team_id, approver_id, client, name, redirect_uri, challenge, scopes, code_hash, expires_at)
SELECT $1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::text, $9::bytea, gannet_now() + $10
WHERE NOT EXISTS (SELECT 1 FROM authorizations WHERE key_id = $3)

-- name: keep_client
UPDATE oauth_clients SET expires_at = greatest(expires_at, gannet_now() + $2) WHERE id = $1

-- name: key_in_force
SELECT EXISTS (
    SELECT 1 FROM keys_in_force WHERE id = $1 AND revoked_at IS NULL
) AS in_force

-- name: approver_in_force
SELECT EXISTS (
    SELECT 1 FROM api_keys p JOIN authorizations a ON a.approver_id = p.id
    WHERE a.key_id = $1 AND p.revoked_at IS NULL
) AS in_force

-- name: lock_code
SELECT key_id, team_id, family_hash, expires_at > gannet_now() AS alive
FROM authorizations
WHERE code_hash = $1 FOR UPDATE

-- name: lock_family
SELECT key_id, team_id, refresh_hash, expires_at > gannet_now() AS alive
FROM authorizations
WHERE family_hash = $1 FOR UPDATE

-- name: purge_clients
DELETE FROM oauth_clients
WHERE id IN (
    SELECT id FROM oauth_clients WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)

-- name: renew_key
UPDATE api_keys SET hash = $2, hint = $3, expires_at = $4 WHERE id = $1
RETURNING id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at

-- name: set_refresh
UPDATE authorizations SET family_hash = $2, refresh_hash = $3, expires_at = gannet_now() + $4 WHERE key_id = $1
