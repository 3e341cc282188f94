INSERT INTO crawl_luggage (crawl_id, request) VALUES ($1, $2)
