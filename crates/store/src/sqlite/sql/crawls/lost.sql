SELECT e.crawl_id, e.seq, e.is_lists, e.attempts >= ?2 AS spent, c.state AS crawl_state
FROM entries e
JOIN crawls c ON c.id = e.crawl_id
WHERE e.state = 1 AND e.lease_until <= ?1
ORDER BY e.lease_until
LIMIT ?3
