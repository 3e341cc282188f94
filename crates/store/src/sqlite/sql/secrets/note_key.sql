INSERT INTO secret_keys (id, is_complete, added_at) VALUES (?1, ?2, ?3)
ON CONFLICT (id) DO UPDATE SET is_complete = excluded.is_complete
