-- CROSS JOIN keeps the order: the few that are asked for first, not all entries of the crawl.
SELECT e.key, e.seq, e.state, e.reason, c.state AS crawl_state
FROM json_each(?2) wanted
CROSS JOIN entries e ON e.crawl_id = ?1 AND e.key = unhex(wanted.value)
JOIN crawls c ON c.id = ?1
