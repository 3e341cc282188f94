UPDATE delivery_subjects SET due_at = ?2, held = 0
WHERE subject = ?1 AND EXISTS (SELECT 1 FROM deliveries WHERE subject = ?1 AND given_up_at IS NULL)
