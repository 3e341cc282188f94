-- Keys that secrets in the database are encrypted with, and the server's own secrets.

-- name: keys
SELECT id, is_complete FROM secret_keys ORDER BY added_at, id

-- name: note_key
INSERT INTO secret_keys (id, is_complete, added_at) VALUES ($1, $2, gannet_now())
ON CONFLICT (id) DO UPDATE SET is_complete = excluded.is_complete

-- name: forget_key
DELETE FROM secret_keys WHERE id = $1

-- name: server_secret
SELECT secret FROM secrets WHERE name = $1

-- name: server_secret_insert
INSERT INTO secrets (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING
