INSERT INTO entries (crawl_id, seq, key, state, is_lists, depth, run_at, changed_at, url, host, reason)
SELECT $1, n.seq, n.key, n.state, n.is_lists, n.depth, gannet_now(), gannet_now(), n.url, n.host, n.reason
FROM unnest(
    $2::bigint[], $3::bytea[], $4::bigint[], $5::boolean[], $6::bigint[], $7::text[], $8::text[], $9::text[]
) AS n (seq, key, state, is_lists, depth, url, host, reason)
