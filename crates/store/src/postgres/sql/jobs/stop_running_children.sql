UPDATE jobs SET cancel_requested = TRUE WHERE parent_id = $1 AND state = 1
