-- How rows are found: see settle.sql.
WITH skipped AS MATERIALIZED (
    SELECT e.place
    FROM unnest($2::bigint[]) AS w (seq)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = $1 AND x.seq = w.seq AND x.state = 5 AND NOT x.is_lists
        LIMIT 1
    ) e
)
UPDATE entries e
SET state = 0, attempts = 0, reason = NULL, run_at = gannet_now(), changed_at = gannet_now()
FROM skipped s
WHERE e.ctid = s.place
