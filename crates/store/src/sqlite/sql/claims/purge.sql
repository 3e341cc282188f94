DELETE FROM claims
WHERE (team_id, hash) IN (SELECT team_id, hash FROM claims WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
