-- The bytes are summed up before a body is read, so that no more is read than is told.
SELECT e.number, e.seq, e.url, d.body
FROM (
    SELECT number, seq, url, sum(document_bytes) OVER (ORDER BY number) AS total
    FROM entries
    WHERE crawl_id = $1 AND number > $2
    ORDER BY number
    LIMIT $3
) e
JOIN documents d ON d.crawl_id = $1 AND d.seq = e.seq
WHERE e.total <= $4 OR e.number - 1 = $2
ORDER BY e.number
