DELETE FROM deliveries WHERE id = ?1
