-- Held while they go, so that nobody opens one again half-way.
SELECT id FROM crawls WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
