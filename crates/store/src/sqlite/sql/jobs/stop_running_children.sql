UPDATE jobs SET cancel_requested = 1 WHERE parent_id = ?1 AND state = 1
