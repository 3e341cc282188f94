-- Its turn comes now, unless a sender holds what stood first until now.
INSERT INTO delivery_subjects AS s (subject, due_at, held) VALUES ($1, gannet_now(), FALSE)
ON CONFLICT (subject) DO UPDATE SET due_at = CASE WHEN s.held THEN s.due_at ELSE excluded.due_at END
