UPDATE delivery_subjects SET due_at = ?2, held = 1
WHERE subject IN (SELECT subject FROM delivery_subjects WHERE due_at <= ?1 ORDER BY due_at LIMIT ?3)
RETURNING subject
