DELETE FROM pages WHERE id IN (SELECT id FROM pages WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
