INSERT INTO credit_periods (team_id, period_start) VALUES ($1, $2) ON CONFLICT DO NOTHING
