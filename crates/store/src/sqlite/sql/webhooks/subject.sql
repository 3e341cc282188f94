INSERT INTO delivery_subjects (subject, due_at, held) VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING
