DELETE FROM feedback
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM feedback
    WHERE id <= (SELECT id FROM feedback ORDER BY id DESC LIMIT 1 OFFSET $1)
    ORDER BY id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
