INSERT INTO reservations (id, team_id, key_id, period_start, purpose, remaining, hold_until)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now() + $7)
