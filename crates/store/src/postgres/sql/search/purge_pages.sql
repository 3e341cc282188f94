DELETE FROM search_pages
WHERE (team_id, collection, key) IN (
    SELECT team_id, collection, key FROM search_pages
    WHERE document IS NULL AND seen_at <= gannet_now() - $1
    ORDER BY seen_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
