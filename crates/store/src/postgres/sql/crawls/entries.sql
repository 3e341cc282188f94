-- In the order of the table, not of states: these are many states, or all.
SELECT seq, url, depth, state, reason, attempts, changed_at
FROM entries
WHERE crawl_id = $1 AND seq > $2 AND NOT is_lists AND state + 0 = ANY ($3)
ORDER BY seq
LIMIT $4
