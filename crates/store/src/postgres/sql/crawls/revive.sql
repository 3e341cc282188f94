UPDATE entries
SET state = 0, attempts = 0, reason = NULL, run_at = gannet_now(), changed_at = gannet_now()
WHERE crawl_id = $1 AND seq = ANY ($2) AND state = 5 AND NOT is_lists
