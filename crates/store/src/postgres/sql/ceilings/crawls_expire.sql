UPDATE crawls SET expires_at = gannet_now() WHERE id = ANY ($1) AND expires_at > gannet_now()
