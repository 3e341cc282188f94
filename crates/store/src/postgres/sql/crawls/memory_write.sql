UPDATE crawl_luggage SET memory = $2 WHERE crawl_id = $1
