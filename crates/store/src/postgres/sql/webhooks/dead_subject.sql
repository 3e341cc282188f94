SELECT subject FROM deliveries WHERE team_id = $1 AND id = $2 AND given_up_at IS NOT NULL
