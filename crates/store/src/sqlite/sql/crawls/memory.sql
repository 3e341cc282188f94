SELECT memory FROM crawl_luggage WHERE crawl_id = ?1
