DELETE FROM outcomes WHERE ctid = ANY (ARRAY(SELECT ctid FROM outcomes WHERE crawl_id = ANY ($1) LIMIT $2))
