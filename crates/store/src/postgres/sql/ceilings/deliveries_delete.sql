DELETE FROM deliveries WHERE number = ANY ($1)
