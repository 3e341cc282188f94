-- The oldest of both sorts; what is a scrape has an id, what is a page has a key.
SELECT id, team_id, key, at, bytes
FROM (
    (SELECT NULL::uuid AS id, team_id, key, fetched_at AS at, bytes FROM pages ORDER BY fetched_at LIMIT $1)
    UNION ALL
    (SELECT id, team_id, NULL::bytea AS key, created_at AS at, bytes FROM scrapes ORDER BY created_at, id LIMIT $1)
) AS c
ORDER BY at, id NULLS FIRST, key
LIMIT $1
