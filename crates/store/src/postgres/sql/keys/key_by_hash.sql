SELECT k.id, k.team_id, k.name, k.hint, k.scopes, k.created_at, k.expires_at, k.last_used_at, k.revoked_at,
       t.name AS team_name, t.plan AS team_plan, t.zero_data_retention AS team_zero_data_retention,
       t.created_at AS team_created_at
FROM api_keys k
JOIN teams t ON t.id = k.team_id
WHERE k.hash = $1
