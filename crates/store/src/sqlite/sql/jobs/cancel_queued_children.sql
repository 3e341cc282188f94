UPDATE jobs
SET state = 5, finished_at = ?2, expires_at = ?2 + retain_for
WHERE parent_id = ?1 AND state = 0
RETURNING reservation
