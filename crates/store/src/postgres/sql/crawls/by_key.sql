-- How rows are found: see settle.sql.
SELECT e.key, e.seq, e.state, e.reason, c.state AS crawl_state
FROM crawls c
CROSS JOIN unnest($2::bytea[]) AS w (key)
CROSS JOIN LATERAL (
    SELECT x.key, x.seq, x.state, x.reason FROM entries x WHERE x.crawl_id = $1 AND x.key = w.key LIMIT 1
) e
WHERE c.id = $1
