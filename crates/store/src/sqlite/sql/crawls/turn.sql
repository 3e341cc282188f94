-- What is fetched, up to the first entry that is waited for: one that runs in its first attempt, not longer than
-- patience allows. Whatever waited too long itself goes, and all before it.
WITH
blocker (seq) AS (
    SELECT min(seq) FROM entries INDEXED BY entries_states
    WHERE crawl_id = ?1 AND state = 1 AND attempts = 1 AND changed_at > ?2
),
edge (seq) AS (
    SELECT CASE
        WHEN seq IS NULL THEN 9223372036854775807
        ELSE max(
            seq - 1,
            coalesce(
                (
                    SELECT max(seq) FROM entries INDEXED BY entries_states
                    WHERE crawl_id = ?1 AND state = 2 AND changed_at <= ?2
                ),
                0
            )
        )
    END
    FROM blocker
)
SELECT e.seq, e.key, e.url, e.depth, e.is_lists, e.document_bytes, o.body AS outcome
FROM entries e INDEXED BY entries_states
LEFT JOIN outcomes o ON o.crawl_id = e.crawl_id AND o.seq = e.seq
WHERE e.crawl_id = ?1 AND e.state = 2 AND e.seq <= (SELECT seq FROM edge)
ORDER BY e.seq
LIMIT ?3
