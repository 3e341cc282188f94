DELETE FROM slots
WHERE id IN (
    SELECT id FROM slots WHERE lease_until <= gannet_now() ORDER BY lease_until LIMIT $1 FOR UPDATE SKIP LOCKED
)
