DELETE FROM deliveries WHERE number IN (SELECT value FROM json_each(?1))
