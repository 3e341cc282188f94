-- As they were read: a page that was seen again since then stays.
UPDATE search_pages
SET seq = gannet_change(), seen_at = gannet_now(), bytes = 0, hash = ''::bytea, url = '', document = NULL
WHERE (team_id, collection, key) IN (
    SELECT s.team_id, s.collection, s.key
    FROM search_pages s
    JOIN unnest($1::uuid[], $2::text[], $3::bytea[], $4::bigint[]) AS e (team_id, collection, key, seen_at)
        ON s.team_id = e.team_id AND s.collection = e.collection AND s.key = e.key AND s.seen_at = e.seen_at
    FOR UPDATE OF s SKIP LOCKED
)
