DELETE FROM deliveries
WHERE number IN (
    SELECT number FROM deliveries
    WHERE given_up_at IS NOT NULL AND expires_at <= gannet_now()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
