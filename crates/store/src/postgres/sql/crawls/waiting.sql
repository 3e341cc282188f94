-- How rows are found: see settle.sql.
SELECT e.seq, e.is_lists, e.document_bytes
FROM unnest($2::bigint[]) AS w (seq)
CROSS JOIN LATERAL (
    SELECT x.seq, x.is_lists, x.document_bytes FROM entries x
    WHERE x.crawl_id = $1 AND x.seq = w.seq AND x.state = 2
    LIMIT 1
) e
