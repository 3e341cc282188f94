UPDATE credit_periods SET tokens = tokens + $3 WHERE team_id = $1 AND period_start = $2
