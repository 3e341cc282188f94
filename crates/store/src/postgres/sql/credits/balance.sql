SELECT used, reserved, tokens FROM credit_periods WHERE team_id = $1 AND period_start = $2
