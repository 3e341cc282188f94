UPDATE deliveries SET attempts = attempts + 1, last_error = ?2, given_up_at = ?3, expires_at = ?4 WHERE id = ?1
