UPDATE credit_periods SET used = used + $3, reserved = reserved - $3 WHERE team_id = $1 AND period_start = $2
