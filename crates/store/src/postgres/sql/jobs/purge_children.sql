DELETE FROM jobs
WHERE id IN (
    SELECT c.id
    FROM jobs c
    WHERE c.parent_id IN (
        SELECT id FROM jobs
        WHERE parent_id IS NULL AND expires_at <= gannet_now() AND children_open = 0
        ORDER BY expires_at
        LIMIT $1
    )
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
