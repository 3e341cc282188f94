INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now())
ON CONFLICT DO NOTHING
