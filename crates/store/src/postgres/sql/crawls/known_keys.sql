SELECT key FROM entries WHERE crawl_id = $1 AND key = ANY ($2)
