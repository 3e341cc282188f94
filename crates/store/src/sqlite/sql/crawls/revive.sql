UPDATE entries
SET state = 0, attempts = 0, reason = NULL, run_at = ?3, changed_at = ?3
WHERE crawl_id = ?1 AND seq IN (SELECT value FROM json_each(?2)) AND state = 5 AND NOT is_lists
