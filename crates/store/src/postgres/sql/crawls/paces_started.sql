UPDATE host_paces SET started_at = gannet_now() WHERE host = ANY ($1)
