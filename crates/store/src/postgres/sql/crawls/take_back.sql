-- From workers that were silent too long: back to the queue, or, after too many attempts, to whoever settles.
UPDATE entries
SET state       = CASE WHEN attempts >= $3 THEN 2 ELSE 0 END,
    lease_owner = NULL,
    lease_until = NULL,
    changed_at  = gannet_now()
WHERE crawl_id = $1 AND seq = ANY ($2) AND state = 1 AND lease_until <= gannet_now()
RETURNING is_lists, state
