UPDATE deliveries
SET attempts = attempts + 1, last_error = $2, given_up_at = gannet_now(), expires_at = gannet_now() + $3
WHERE id = $1
