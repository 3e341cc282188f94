UPDATE credit_periods SET reserved = reserved - $3 WHERE team_id = $1 AND period_start = $2
