INSERT INTO scrapes (id, team_id, key_id, ok, private, credits, created_at, expires_at, bytes, url, error, result)
SELECT id, team_id, key_id, ok, private, credits, gannet_now(), gannet_now() + keep_for, bytes, url, error, result
FROM unnest(
    $1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[], $5::boolean[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::text[], $10::text[], $11::bytea[]
) AS s (id, team_id, key_id, ok, private, credits, keep_for, bytes, url, error, result)
ORDER BY id
ON CONFLICT (id) DO NOTHING
