-- A database that was restored into a younger cluster has rows of transactions that are still to come there.
UPDATE search_pages SET seq = gannet_change()
WHERE (team_id, collection, key) IN (
    SELECT team_id, collection, key FROM search_pages
    WHERE seq >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    ORDER BY seq
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
