-- Only what has nothing of its own left: everything else went before.
DELETE FROM crawls
WHERE id IN (
    SELECT c.id FROM crawls c
    WHERE c.expires_at <= ?1
      AND NOT EXISTS (SELECT 1 FROM entries WHERE crawl_id = c.id)
      AND NOT EXISTS (SELECT 1 FROM outcomes WHERE crawl_id = c.id)
      AND NOT EXISTS (SELECT 1 FROM documents WHERE crawl_id = c.id)
      AND NOT EXISTS (SELECT 1 FROM crawl_luggage WHERE crawl_id = c.id)
    ORDER BY c.expires_at
    LIMIT ?2
)
