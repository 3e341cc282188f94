SELECT id, team_id, name, hint, scopes, created_at, expires_at, last_used_at, revoked_at
FROM api_keys
WHERE team_id = $1
ORDER BY created_at, id
