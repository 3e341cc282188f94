UPDATE search_pages
SET seq = gannet_change(), seen_at = gannet_now(), bytes = 0, hash = ''::bytea, url = '', document = NULL
WHERE (team_id, collection, key) IN (
    SELECT s.team_id, s.collection, s.key
    FROM search_pages s
    JOIN unnest($3::bytea[]) AS g (key) ON s.key = g.key
    WHERE s.team_id = $1 AND s.collection = $2
    ORDER BY s.key
    FOR UPDATE OF s
)
