INSERT INTO credit_periods (team_id, period_start, used) VALUES (?1, ?2, ?3)
ON CONFLICT (team_id, period_start) DO UPDATE SET used = used + ?3
