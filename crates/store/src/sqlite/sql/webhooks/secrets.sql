SELECT secret, created_at, until
FROM webhook_secrets
WHERE team_id = ?1 AND (until IS NULL OR until > ?2)
ORDER BY until IS NULL DESC, until DESC
