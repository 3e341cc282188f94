UPDATE slots SET lease_until = ?3 WHERE id = ?1 AND lease_until > ?2
