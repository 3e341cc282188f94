-- From workers that were silent too long: back to the queue, or, after too many attempts, to whoever settles. How rows
-- are found: see settle.sql; `+ 0` so that it is not by the index of leases.
WITH lost AS MATERIALIZED (
    SELECT e.place
    FROM unnest($2::bigint[]) AS l (seq)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = $1 AND x.seq = l.seq AND x.state + 0 = 1 AND x.lease_until <= gannet_now()
        LIMIT 1
    ) e
)
UPDATE entries e
SET state       = CASE WHEN e.attempts >= $3 THEN 2 ELSE 0 END,
    lease_owner = NULL,
    lease_until = NULL,
    changed_at  = gannet_now()
FROM lost l
WHERE e.ctid = l.place
RETURNING e.is_lists, e.state
