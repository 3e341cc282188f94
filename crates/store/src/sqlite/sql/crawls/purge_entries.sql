DELETE FROM entries
WHERE (crawl_id, seq) IN (
    SELECT one.crawl_id, one.seq
    FROM (SELECT id FROM crawls WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) gone
    JOIN entries one ON one.crawl_id = gone.id
    LIMIT ?2
)
