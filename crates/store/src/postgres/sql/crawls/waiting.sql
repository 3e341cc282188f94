SELECT seq, is_lists, document_bytes FROM entries WHERE crawl_id = $1 AND state = 2 AND seq = ANY ($2)
