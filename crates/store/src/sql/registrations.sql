-- Keys of agents that registered, and the assertions they did it with.

-- name: delete
DELETE FROM registrations WHERE key_id = $1

-- name: delete_key
DELETE FROM api_keys WHERE id = $1

-- name: expired
SELECT r.key_id
FROM registrations r
JOIN api_keys k ON k.id = r.key_id
WHERE k.expires_at IS NOT NULL AND k.expires_at + 86400000 <= gannet_now()
ORDER BY r.key_id
LIMIT $1

-- name: insert
INSERT INTO registrations (key_id, user_hash, client, created_at) VALUES ($1, $2, $3, gannet_now())

-- name: purge_used
DELETE FROM used_assertions
WHERE hash IN (
    SELECT hash FROM used_assertions WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)

-- name: revoke_older
UPDATE api_keys SET revoked_at = gannet_now()
WHERE revoked_at IS NULL AND id IN (
    SELECT key_id FROM registrations WHERE user_hash = $1 ORDER BY created_at DESC, key_id DESC LIMIT 10000 OFFSET $2
)
RETURNING id, team_id, name

-- name: revoke_user
UPDATE api_keys SET revoked_at = gannet_now()
WHERE revoked_at IS NULL AND id IN (SELECT key_id FROM registrations WHERE user_hash = $1)
RETURNING id, team_id, name

-- name: use
INSERT INTO used_assertions (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING
