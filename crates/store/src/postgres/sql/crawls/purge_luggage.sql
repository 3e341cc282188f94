DELETE FROM crawl_luggage
WHERE ctid = ANY (ARRAY(SELECT ctid FROM crawl_luggage WHERE crawl_id = ANY ($1) LIMIT $2))
