SELECT secret, created_at, until
FROM webhook_secrets
WHERE team_id = $1 AND (until IS NULL OR until > gannet_now())
ORDER BY until IS NULL DESC, until DESC
