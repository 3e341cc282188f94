DELETE FROM documents WHERE ctid = ANY (ARRAY(SELECT ctid FROM documents WHERE crawl_id = ANY ($1) LIMIT $2))
