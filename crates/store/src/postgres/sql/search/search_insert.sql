INSERT INTO searches (id, team_id, created_at, expires_at, query, urls)
VALUES ($1, $2, gannet_now(), gannet_now() + $3, $4, $5)
ON CONFLICT (id) DO NOTHING
