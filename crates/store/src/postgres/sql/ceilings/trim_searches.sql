DELETE FROM searches
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM searches
    WHERE expires_at <= (SELECT expires_at FROM searches ORDER BY expires_at DESC LIMIT 1 OFFSET $1)
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
