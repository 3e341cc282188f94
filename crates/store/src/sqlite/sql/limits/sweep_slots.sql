DELETE FROM slots WHERE id IN (SELECT id FROM slots WHERE lease_until <= ?1 ORDER BY lease_until LIMIT ?2)
