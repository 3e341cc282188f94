DELETE FROM secret_keys WHERE id = ?1
