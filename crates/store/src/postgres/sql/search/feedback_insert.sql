INSERT INTO feedback (id, team_id, subject, created_at, endpoint, body)
VALUES ($1, $2, $3, gannet_now(), $4, $5)
ON CONFLICT (team_id, subject) DO NOTHING
