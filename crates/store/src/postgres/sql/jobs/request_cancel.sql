UPDATE jobs SET cancel_requested = TRUE WHERE id = $1
