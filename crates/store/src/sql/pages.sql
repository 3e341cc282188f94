-- The page cache.

-- name: delete (sqlite)
DELETE FROM pages WHERE team_id = $1 AND key = $2 AND fetched_at = $3

-- name: delete (postgres)
-- As they were read: a page that was fetched anew since then stays.
DELETE FROM pages
WHERE (team_id, key) IN (
    SELECT p.team_id, p.key
    FROM pages p
    JOIN unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS e (team_id, key, fetched_at)
        ON p.team_id = e.team_id AND p.key = e.key AND p.fetched_at = e.fetched_at
    FOR UPDATE OF p SKIP LOCKED
)

-- name: get
SELECT url, final_url, status, content_type, headers, rung, fetched_at, gannet_now() - fetched_at AS age, body
FROM pages
WHERE team_id = $1 AND key = $2 AND expires_at > gannet_now()

-- name: oldest (sqlite)
-- The oldest of both kinds; what is a scrape has an id, what is a page has a key. Scrapes are numbered as they come.
SELECT id, team_id, key, at, bytes
FROM (
    SELECT * FROM (
        SELECT NULL AS id, team_id, key, fetched_at AS at, bytes FROM pages ORDER BY fetched_at LIMIT $1
    )
    UNION ALL
    SELECT * FROM (
        SELECT id, team_id, NULL AS key, created_at AS at, bytes FROM scrapes ORDER BY number LIMIT $1
    )
)
ORDER BY at, id NULLS FIRST, key
LIMIT $1

-- name: oldest (postgres)
-- The oldest of both kinds; what is a scrape has an id, what is a page has a key.
SELECT id, team_id, key, at, bytes
FROM (
    (SELECT NULL::uuid AS id, team_id, key, fetched_at AS at, bytes FROM pages ORDER BY fetched_at LIMIT $1)
    UNION ALL
    (SELECT id, team_id, NULL::bytea AS key, created_at AS at, bytes FROM scrapes ORDER BY created_at, id LIMIT $1)
) AS c
ORDER BY at, id NULLS FIRST, key
LIMIT $1

-- name: purge
DELETE FROM pages
WHERE (team_id, key) IN (
    SELECT team_id, key FROM pages
    WHERE expires_at <= gannet_now()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: put (sqlite)
INSERT INTO pages (team_id, key, fetched_at, keep_for, expires_at, bytes, status, url, final_url, content_type, headers, rung, body)
VALUES ($1, $2, gannet_now(), $3, gannet_now() + $3, $4, $5, $6, $7, $8, $9, $10, $11)
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

-- name: put (postgres)
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

-- name: touch
UPDATE pages SET fetched_at = gannet_now(), expires_at = gannet_now() + keep_for
WHERE team_id = $1 AND key = $2 AND expires_at > gannet_now()
