SELECT id AS number, bytes FROM search_pages WHERE document IS NOT NULL ORDER BY seen_at, id LIMIT ?1
