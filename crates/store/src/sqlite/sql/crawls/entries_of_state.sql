SELECT seq, url, depth, state, reason, attempts, changed_at
FROM entries INDEXED BY entries_states
WHERE crawl_id = ?1 AND seq > ?2 AND NOT is_lists AND state = ?3
ORDER BY seq
LIMIT ?4
