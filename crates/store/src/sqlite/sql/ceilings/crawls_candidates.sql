SELECT id, stored AS bytes FROM crawls
WHERE expires_at > ?1 AND finished_at <= ?2
ORDER BY expires_at
LIMIT ?3
