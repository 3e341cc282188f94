SELECT e.seq, e.is_lists, e.document_bytes
FROM json_each(?2) wanted
JOIN entries e ON e.crawl_id = ?1 AND e.seq = wanted.value
WHERE e.state = 2
