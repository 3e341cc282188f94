SELECT e.key, e.seq, e.state, e.reason, c.state AS crawl_state
FROM crawls c
JOIN entries e ON e.crawl_id = c.id
WHERE c.id = $1 AND e.key = ANY ($2)
