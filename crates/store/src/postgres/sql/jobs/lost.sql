SELECT id, lease_owner, lease_number
FROM jobs
WHERE state = 1 AND lease_until <= gannet_now()
ORDER BY lease_until
LIMIT $1
