SELECT id, team_id, parent_id, attempts, max_attempts, cancel_requested, reservation, lease_until <= gannet_now() AS silent
FROM jobs
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3
FOR NO KEY UPDATE
