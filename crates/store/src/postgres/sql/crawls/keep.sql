-- How rows are found: see settle.sql.
WITH held AS MATERIALIZED (
    SELECT e.place
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[]) AS k (crawl_id, seq, owner, number)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = k.crawl_id AND x.seq = k.seq AND x.state = 1 AND x.lease_owner = k.owner
          AND x.lease_number = k.number
        LIMIT 1
    ) e
)
UPDATE entries e
SET lease_until = gannet_now() + $5
FROM held h
WHERE e.ctid = h.place
RETURNING e.crawl_id, e.seq, e.lease_owner, e.lease_number
