DELETE FROM outcomes WHERE crawl_id = ?1 AND seq IN (SELECT value FROM json_each(?2))
