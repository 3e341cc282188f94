SELECT team_id, collection, key, seen_at, bytes
FROM search_pages
WHERE document IS NOT NULL
ORDER BY seen_at, key
LIMIT $1
