UPDATE deliveries SET attempts = attempts + 1, last_error = $2, due_at = gannet_now() + $3 WHERE id = $1
