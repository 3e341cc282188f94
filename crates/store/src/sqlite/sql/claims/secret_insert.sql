INSERT INTO secrets (name, secret) VALUES (?1, ?2) ON CONFLICT DO NOTHING
