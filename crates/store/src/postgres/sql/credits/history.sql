SELECT p.period_start, NULL::text AS key_name, p.used AS credits, p.tokens AS tokens
FROM credit_periods p
WHERE p.team_id = $1
ORDER BY p.period_start DESC
LIMIT $2
