DELETE FROM feedback
WHERE id IN (
    SELECT id FROM feedback
    WHERE id <= coalesce((SELECT id FROM feedback ORDER BY id DESC LIMIT 1 OFFSET ?1), x'')
    ORDER BY id
    LIMIT ?2
)
