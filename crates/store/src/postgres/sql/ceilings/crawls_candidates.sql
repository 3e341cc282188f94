SELECT id, stored AS bytes FROM crawls
WHERE expires_at > gannet_now() AND finished_at <= gannet_now() - $1
ORDER BY expires_at
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED
