-- In the order of the key, so that two batches with the same pages do not wait in a circle.
INSERT INTO pages (team_id, key, fetched_at, keep_for, expires_at, bytes, status, url, final_url, content_type, headers, rung, body)
SELECT team_id, key, gannet_now(), keep_for, gannet_now() + keep_for, bytes, status, url, final_url, content_type, headers, rung, body
FROM unnest(
    $1::uuid[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[],
    $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[]
) AS p (team_id, key, keep_for, bytes, status, url, final_url, content_type, headers, rung, body)
ORDER BY team_id, key
ON CONFLICT (team_id, key) DO UPDATE SET
    fetched_at   = excluded.fetched_at,
    keep_for     = excluded.keep_for,
    expires_at   = excluded.expires_at,
    bytes        = excluded.bytes,
    status       = excluded.status,
    url          = excluded.url,
    final_url    = excluded.final_url,
    content_type = excluded.content_type,
    headers      = excluded.headers,
    rung         = excluded.rung,
    body         = excluded.body
