SELECT EXISTS (SELECT 1 FROM delivery_subjects WHERE due_at <= ?1) AS due
