SELECT id, is_complete FROM secret_keys ORDER BY added_at, id
