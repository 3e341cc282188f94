INSERT INTO activity (id, team_id, key_id, endpoint, target, created_at)
VALUES ($1, $2, $3, $4, $5, gannet_now())
ON CONFLICT DO NOTHING
