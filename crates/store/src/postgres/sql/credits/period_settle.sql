INSERT INTO credit_periods AS p (team_id, period_start, used) VALUES ($1, $2, $3)
ON CONFLICT (team_id, period_start) DO UPDATE SET used = p.used + $3, reserved = p.reserved - $4
