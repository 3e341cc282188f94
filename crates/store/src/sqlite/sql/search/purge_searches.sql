DELETE FROM searches WHERE id IN (SELECT id FROM searches WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
