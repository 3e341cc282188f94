-- The rows of a list go, each with a number of its own after ?1.
UPDATE search_pages
SET seq = ?1 + 1 + j.key, seen_at = ?3, bytes = 0, hash = x'', url = '', document = NULL
FROM json_each(?2) AS j
WHERE search_pages.id = j.value
