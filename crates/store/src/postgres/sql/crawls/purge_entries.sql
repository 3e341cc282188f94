DELETE FROM entries
WHERE (crawl_id, seq) IN (SELECT crawl_id, seq FROM entries WHERE crawl_id = ANY ($1) LIMIT $2)
