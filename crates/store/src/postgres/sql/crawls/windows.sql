-- The next queued entries of several crawls, each after a number, with how their hosts want to be asked. How rows are
-- found: see settle.sql.
SELECT w.place, e.seq, e.url, e.host, e.depth, e.is_lists, e.run_at, coalesce(p.gap, 0) AS host_gap,
       coalesce(greatest(p.paused_until, CASE WHEN p.gap > 0 THEN p.started_at + p.gap END), 0) AS host_at
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[]) AS w (place, crawl_id, after, size)
CROSS JOIN LATERAL (
    SELECT q.seq, q.url, q.host, q.depth, q.is_lists, q.run_at
    FROM entries q
    WHERE q.crawl_id = w.crawl_id AND q.state = 0 AND q.seq > w.after
    ORDER BY q.seq
    LIMIT w.size
) e
LEFT JOIN LATERAL (SELECT h.gap, h.started_at, h.paused_until FROM host_paces h WHERE h.host = e.host LIMIT 1) p ON TRUE
ORDER BY w.place, e.seq
