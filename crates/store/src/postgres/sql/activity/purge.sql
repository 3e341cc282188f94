DELETE FROM activity
WHERE id IN (
    SELECT id FROM activity
    WHERE created_at < gannet_now() - $1
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
