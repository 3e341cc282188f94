UPDATE delivery_subjects SET due_at = gannet_now() + $2, held = FALSE
WHERE subject = $1 AND EXISTS (SELECT 1 FROM deliveries WHERE subject = $1 AND given_up_at IS NULL)
