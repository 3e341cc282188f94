DELETE FROM activity
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM activity
    WHERE created_at <= (SELECT created_at FROM activity ORDER BY created_at DESC LIMIT 1 OFFSET $1)
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
