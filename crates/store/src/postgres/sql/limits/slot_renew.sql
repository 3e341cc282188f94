WITH held AS (
    SELECT id FROM slots WHERE id = ANY ($1) AND lease_until > gannet_now() ORDER BY id FOR NO KEY UPDATE
)
UPDATE slots s SET lease_until = gannet_now() + $2 FROM held h WHERE s.id = h.id RETURNING s.id
