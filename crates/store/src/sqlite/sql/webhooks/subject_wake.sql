-- Its turn comes now, unless a sender holds what stood first until now.
INSERT INTO delivery_subjects (subject, due_at, held) VALUES (?1, ?2, 0)
ON CONFLICT (subject) DO UPDATE SET due_at = excluded.due_at WHERE held = 0
