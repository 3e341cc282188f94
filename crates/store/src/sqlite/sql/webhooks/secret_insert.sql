INSERT INTO webhook_secrets (team_id, created_at, secret) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING
