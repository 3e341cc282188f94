SELECT number, (octet_length(body) + octet_length(target) + 256)::bigint AS bytes
FROM deliveries
WHERE given_up_at IS NOT NULL
ORDER BY expires_at
LIMIT $1
FOR UPDATE SKIP LOCKED
