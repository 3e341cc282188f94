-- In the order of the key, so that two batches with the same pages do not wait in a circle.
-- The same words again are written once a day, so that the page stays among the young ones.
INSERT INTO search_pages AS s (team_id, collection, key, seq, seen_at, bytes, hash, url, document)
SELECT team_id, collection, key, gannet_change(), gannet_now(), bytes, hash, url, document
FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::bigint[], $5::bytea[], $6::text[], $7::bytea[])
    AS p (team_id, collection, key, bytes, hash, url, document)
ORDER BY team_id, collection COLLATE "C", key
ON CONFLICT (team_id, collection, key) DO UPDATE SET
    seq      = excluded.seq,
    seen_at  = excluded.seen_at,
    bytes    = excluded.bytes,
    hash     = excluded.hash,
    url      = excluded.url,
    document = excluded.document
WHERE s.document IS NULL OR s.hash <> excluded.hash OR s.seen_at <= excluded.seen_at - $8
