SELECT seq, team_id, collection, key, seen_at, document
FROM search_pages
WHERE seq > $1 AND seq < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY seq
FETCH FIRST $2 ROWS WITH TIES
