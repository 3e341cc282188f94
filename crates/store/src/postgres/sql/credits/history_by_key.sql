SELECT u.period_start, k.name AS key_name, sum(u.credits)::bigint AS credits, sum(u.tokens)::bigint AS tokens
FROM credit_usage u
LEFT JOIN api_keys k ON k.id = u.key_id
WHERE u.team_id = $1
  AND u.period_start IN (
      SELECT period_start FROM credit_periods WHERE team_id = $1 ORDER BY period_start DESC LIMIT $2
  )
GROUP BY u.period_start, u.key_id, k.name, k.created_at
ORDER BY u.period_start DESC, k.created_at NULLS FIRST, u.key_id
