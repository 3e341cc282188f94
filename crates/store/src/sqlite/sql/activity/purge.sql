DELETE FROM activity WHERE id IN (SELECT id FROM activity WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)
