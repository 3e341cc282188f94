SELECT 1 FROM scrapes WHERE id = ?1
