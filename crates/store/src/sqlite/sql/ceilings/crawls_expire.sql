UPDATE crawls SET expires_at = ?2 WHERE id = ?1 AND expires_at > ?2
