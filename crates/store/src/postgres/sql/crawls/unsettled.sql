SELECT id FROM crawls WHERE state = 0 AND fetched + lists_fetched > 0 ORDER BY id LIMIT $1
