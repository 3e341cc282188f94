DELETE FROM delivery_subjects WHERE subject = $1
