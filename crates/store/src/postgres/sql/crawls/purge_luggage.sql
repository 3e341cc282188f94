DELETE FROM crawl_luggage
WHERE crawl_id IN (SELECT crawl_id FROM crawl_luggage WHERE crawl_id = ANY ($1) LIMIT $2)
