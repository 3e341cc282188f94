DELETE FROM scrapes
WHERE id IN (
    SELECT id FROM scrapes WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
