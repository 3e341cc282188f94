-- All open children in the order of ids, as heartbeats lock them.
SELECT count(*) AS open
FROM (SELECT id FROM jobs WHERE parent_id = $1 AND state <= 1 ORDER BY id FOR NO KEY UPDATE) c
