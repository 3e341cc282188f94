UPDATE entries
SET state = ?3, lease_owner = NULL, lease_until = NULL, changed_at = ?4
WHERE crawl_id = ?1 AND seq = ?2
