DELETE FROM entries WHERE ctid = ANY (ARRAY(SELECT ctid FROM entries WHERE crawl_id = ANY ($1) LIMIT $2))
