-- CROSS JOIN keeps the order: the few that are asked for first, not all entries of the crawl.
SELECT e.seq, e.is_lists, e.lease_owner, e.lease_number, c.team_id, c.private
FROM json_each(?2) wanted
CROSS JOIN entries e ON e.crawl_id = ?1 AND e.seq = wanted.value
JOIN crawls c ON c.id = ?1
WHERE e.state = 1 AND c.state = 0
