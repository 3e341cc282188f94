SELECT id FROM scrapes WHERE id = ANY ($1)
