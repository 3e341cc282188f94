DELETE FROM claims
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM claims
    WHERE expires_at <= (SELECT expires_at FROM claims ORDER BY expires_at DESC LIMIT 1 OFFSET $1)
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
