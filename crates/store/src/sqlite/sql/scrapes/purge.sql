DELETE FROM scrapes WHERE number IN (SELECT number FROM scrapes WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
