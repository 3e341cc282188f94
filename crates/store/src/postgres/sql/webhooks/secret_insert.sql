INSERT INTO webhook_secrets (team_id, created_at, secret) VALUES ($1, gannet_now(), $2) ON CONFLICT DO NOTHING
