-- What is fetched, up to the first entry that is waited for: one that runs in its first attempt, not longer than
-- patience allows. Whatever waited too long itself goes, and all before it.
WITH edge (seq) AS (
    SELECT CASE
        WHEN first.seq IS NULL OR $3 THEN 9223372036854775807
        ELSE greatest(
            first.seq - 1,
            (SELECT max(seq) FROM entries WHERE crawl_id = $1 AND state = 2 AND changed_at <= gannet_now() - $4)
        )
    END
    FROM (
        SELECT min(seq) AS seq
        FROM entries
        WHERE crawl_id = $1 AND state = 1 AND attempts = 1 AND changed_at > gannet_now() - $4
    ) first
)
SELECT e.seq, e.key, e.url, e.depth, e.is_lists, e.document_bytes,
       (SELECT o.body FROM outcomes o WHERE o.crawl_id = e.crawl_id AND o.seq = e.seq) AS outcome
FROM entries e
WHERE e.crawl_id = $1 AND e.state = 2 AND e.seq <= (SELECT seq FROM edge)
ORDER BY e.seq
LIMIT $2
