DELETE FROM deliveries
WHERE number IN (
    SELECT number FROM deliveries
    WHERE given_up_at IS NOT NULL AND expires_at <= ?1
    ORDER BY expires_at
    LIMIT ?2
)
