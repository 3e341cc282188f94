-- When the one that stands first now is due; no row when nothing is open.
UPDATE delivery_subjects s SET due_at = greatest(gannet_now(), f.due_at), held = FALSE
FROM (
    SELECT due_at FROM deliveries WHERE subject = $1 AND given_up_at IS NULL ORDER BY number LIMIT 1
) AS f
WHERE s.subject = $1
