SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only
