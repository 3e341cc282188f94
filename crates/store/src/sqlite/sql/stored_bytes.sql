SELECT bytes FROM stored_bytes WHERE kind = ?1
