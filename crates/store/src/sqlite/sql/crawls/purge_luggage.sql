DELETE FROM crawl_luggage
WHERE crawl_id IN (SELECT id FROM crawls WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
