INSERT INTO api_keys (id, team_id, name, hint, hash, scopes, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now(), $7)
RETURNING id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at
