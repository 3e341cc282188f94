-- The oldest of both sorts: 0 for pages, 1 for scrapes.
SELECT sort, number, bytes
FROM (
    SELECT * FROM (SELECT 0 AS sort, id AS number, bytes, fetched_at AS at FROM pages ORDER BY fetched_at LIMIT ?1)
    UNION ALL
    SELECT * FROM (SELECT 1 AS sort, number, bytes, created_at AS at FROM scrapes ORDER BY number LIMIT ?1)
)
ORDER BY at, sort, number
LIMIT ?1
