UPDATE jobs SET cancel_requested = 1 WHERE id = ?1
