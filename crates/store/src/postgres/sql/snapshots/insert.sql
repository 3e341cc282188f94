INSERT INTO snapshots (team_id, key, taken_at, bytes, url, tag, body)
VALUES ($1, $2, gannet_now(), $3, $4, $5, $6)
ON CONFLICT DO NOTHING
