DELETE FROM webhook_secrets WHERE team_id = $1 AND until IS NOT NULL
