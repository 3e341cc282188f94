INSERT INTO slots (id, team_id, lease_until) VALUES ($1, $2, gannet_now() + $3)
