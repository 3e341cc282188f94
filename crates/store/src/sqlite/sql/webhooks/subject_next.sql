-- When the one that stands first now is due; no row when nothing is open.
UPDATE delivery_subjects SET due_at = max(?2, f.due_at), held = 0
FROM (
    SELECT due_at FROM deliveries WHERE subject = ?1 AND given_up_at IS NULL ORDER BY number LIMIT 1
) AS f
WHERE subject = ?1
