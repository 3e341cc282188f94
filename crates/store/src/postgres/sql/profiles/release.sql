UPDATE profiles SET owner = NULL, lease_until = 0 WHERE team_id = $1 AND name = $2 AND owner = $3
