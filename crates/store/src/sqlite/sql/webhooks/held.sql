SELECT subject FROM deliveries WHERE id = ?1 AND leases = ?2 AND given_up_at IS NULL
