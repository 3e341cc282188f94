UPDATE entries e
SET lease_until = gannet_now() + $5
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[]) AS k (crawl_id, seq, owner, number)
WHERE e.crawl_id = k.crawl_id AND e.seq = k.seq AND e.state = 1 AND e.lease_owner = k.owner AND e.lease_number = k.number
RETURNING e.crawl_id, e.seq, e.lease_owner, e.lease_number
