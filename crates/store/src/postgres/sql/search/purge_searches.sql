DELETE FROM searches
WHERE id IN (
    SELECT id FROM searches
    WHERE expires_at <= gannet_now() - $1
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
