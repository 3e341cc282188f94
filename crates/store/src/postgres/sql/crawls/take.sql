-- Their crawls are locked, and claims take turns: whatever was queued a moment ago still is.
UPDATE entries e
SET state        = 1,
    attempts     = e.attempts + 1,
    lease_number = e.lease_number + 1,
    lease_owner  = $3,
    lease_until  = gannet_now() + $4,
    changed_at   = gannet_now()
FROM unnest($1::uuid[], $2::bigint[]) AS t (crawl_id, seq)
WHERE e.crawl_id = t.crawl_id AND e.seq = t.seq AND e.state = 0
RETURNING e.crawl_id, e.seq, e.lease_number, e.attempts
