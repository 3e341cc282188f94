UPDATE jobs
SET state = 5, finished_at = gannet_now(), expires_at = gannet_now() + retain_for
WHERE parent_id = $1 AND state = 0
RETURNING reservation
