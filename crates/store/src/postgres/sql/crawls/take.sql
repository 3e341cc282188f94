-- Their crawls are locked, and claims take turns: whatever was queued a moment ago still is. How rows are found: see
-- settle.sql.
WITH chosen AS MATERIALIZED (
    SELECT e.place
    FROM unnest($1::uuid[], $2::bigint[]) AS t (crawl_id, seq)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = t.crawl_id AND x.seq = t.seq AND x.state = 0
        LIMIT 1
    ) e
)
UPDATE entries e
SET state        = 1,
    attempts     = e.attempts + 1,
    lease_number = e.lease_number + 1,
    lease_owner  = $3,
    lease_until  = gannet_now() + $4,
    changed_at   = gannet_now()
FROM chosen c
WHERE e.ctid = c.place
RETURNING e.crawl_id, e.seq, e.lease_number, e.attempts
