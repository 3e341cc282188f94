SELECT crawl_id, seq FROM entries WHERE state = 1 AND lease_until <= gannet_now() ORDER BY lease_until LIMIT $1
