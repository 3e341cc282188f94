SELECT s.subject
FROM delivery_subjects s
JOIN deliveries d ON d.subject = s.subject
WHERE d.id = $1
FOR UPDATE OF s
