UPDATE deliveries SET due_at = gannet_now() + $2 WHERE id = $1
