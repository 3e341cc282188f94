UPDATE delivery_subjects SET due_at = gannet_now() + $2, held = TRUE
WHERE subject IN (
    SELECT subject FROM delivery_subjects
    WHERE due_at <= gannet_now()
    ORDER BY due_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
RETURNING subject
