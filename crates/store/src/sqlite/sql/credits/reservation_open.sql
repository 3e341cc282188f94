SELECT 1 FROM reservations WHERE id = ?1
