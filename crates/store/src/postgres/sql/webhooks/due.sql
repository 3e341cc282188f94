SELECT EXISTS (SELECT 1 FROM delivery_subjects WHERE due_at <= gannet_now()) AS due
