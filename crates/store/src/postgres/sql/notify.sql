SELECT pg_notify('gannet_work', '')
