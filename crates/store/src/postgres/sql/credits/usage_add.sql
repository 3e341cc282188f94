INSERT INTO credit_usage AS u (team_id, period_start, key_id, purpose, credits, tokens)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (team_id, period_start, key_id, purpose) DO UPDATE SET
    credits = u.credits + excluded.credits,
    tokens  = u.tokens + excluded.tokens
