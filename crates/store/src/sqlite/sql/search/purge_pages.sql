DELETE FROM search_pages
WHERE id IN (SELECT id FROM search_pages WHERE document IS NULL AND seen_at <= ?1 ORDER BY seen_at LIMIT ?2)
