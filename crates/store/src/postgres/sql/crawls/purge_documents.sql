DELETE FROM documents
WHERE (crawl_id, seq) IN (SELECT crawl_id, seq FROM documents WHERE crawl_id = ANY ($1) LIMIT $2)
