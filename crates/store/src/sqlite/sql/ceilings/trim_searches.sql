DELETE FROM searches
WHERE id IN (
    SELECT id FROM searches
    WHERE expires_at <= coalesce((SELECT expires_at FROM searches ORDER BY expires_at DESC LIMIT 1 OFFSET ?1), -1)
    ORDER BY expires_at
    LIMIT ?2
)
