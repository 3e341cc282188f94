DELETE FROM activity
WHERE id IN (
    SELECT id FROM activity
    WHERE created_at <= coalesce((SELECT created_at FROM activity ORDER BY created_at DESC LIMIT 1 OFFSET ?1), -1)
    ORDER BY created_at
    LIMIT ?2
)
