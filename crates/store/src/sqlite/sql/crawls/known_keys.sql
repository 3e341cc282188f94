SELECT e.key
FROM json_each(?2) wanted
JOIN entries e ON e.crawl_id = ?1 AND e.key = unhex(wanted.value)
