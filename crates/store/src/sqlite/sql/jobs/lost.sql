SELECT id, lease_owner, lease_number
FROM jobs
WHERE state = 1 AND lease_until <= ?1
ORDER BY lease_until
LIMIT ?2
