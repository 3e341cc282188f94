INSERT INTO objects (key, team_id, bytes, created_at, expires_at)
VALUES ($1, $2, $3, gannet_now(), gannet_now() + $4)
ON CONFLICT DO NOTHING
