DELETE FROM webhook_secrets
WHERE (team_id, until) IN (SELECT team_id, until FROM webhook_secrets WHERE until <= gannet_now() LIMIT $1)
