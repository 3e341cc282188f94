-- Records of scrapes.

-- name: delete
DELETE FROM scrapes
WHERE id IN (SELECT id FROM scrapes WHERE id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED)

-- name: get
SELECT id, key_id, ok, private, credits, created_at, url, error, result
FROM scrapes
WHERE team_id = $1 AND id = $2 AND expires_at > gannet_now()

-- name: insert (sqlite)
-- The record and its activity in one go: going to and from the writer costs more than the writing.
INSERT INTO scrapes (id, team_id, key_id, ok, private, credits, created_at, expires_at, bytes, url, error, result)
VALUES ($1, $2, CASE WHEN $5 THEN NULL ELSE $3 END, $4, $5, $6, gannet_now(), gannet_now() + $7, $8, $9, $10, $11)
ON CONFLICT (id) DO NOTHING;

INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at, took)
SELECT $1, $2, $3, $12, $9, $13, gannet_now(), $14 WHERE NOT $5
ON CONFLICT DO NOTHING

-- name: insert (postgres)
-- The records and their activity in one go. A private scrape has no activity and no key.
WITH recorded AS (
    SELECT *
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[], $5::boolean[], $6::bigint[], $7::bigint[], $8::bigint[],
        $9::text[], $10::text[], $11::bytea[], $12::text[], $13::text[], $14::bigint[]
    ) AS r (
        id, team_id, key_id, ok, private, credits, keep_for, bytes, url, error, result, endpoint, audit, took
    )
),
activity_written AS (
    INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at, took)
    SELECT id, team_id, key_id, endpoint, url, audit, gannet_now(), took
    FROM recorded WHERE NOT private ORDER BY id
    ON CONFLICT DO NOTHING
)
INSERT INTO scrapes (id, team_id, key_id, ok, private, credits, created_at, expires_at, bytes, url, error, result)
SELECT id, team_id, CASE WHEN private THEN NULL ELSE key_id END, ok, private, credits, gannet_now(),
       gannet_now() + keep_for, bytes, url, error, result
FROM recorded
ORDER BY id
ON CONFLICT (id) DO NOTHING

-- name: keep_request
INSERT INTO scrape_requests (scrape_id, team_id, request, expires_at)
VALUES ($1, $2, $3, gannet_now() + $4)
ON CONFLICT (scrape_id) DO NOTHING

-- name: request
SELECT request FROM scrape_requests WHERE team_id = $1 AND scrape_id = $2 AND expires_at > gannet_now()

-- name: purge_requests
DELETE FROM scrape_requests
WHERE scrape_id IN (
    SELECT scrape_id FROM scrape_requests WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: known
SELECT id FROM scrapes WHERE id = ANY ($1::uuid[])

-- name: purge
DELETE FROM scrapes
WHERE id IN (
    SELECT id FROM scrapes WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)

-- name: close_reservations (sqlite)
-- Takes the whole reservation, unless it does not cover the price.
DELETE FROM reservations WHERE id = $1 AND remaining >= $2
RETURNING id, team_id, key_id, period_start, purpose, remaining

-- name: close_reservations (postgres)
-- Takes whole reservations, in one order; those that do not cover their price stay.
WITH covered AS (
    SELECT r.id
    FROM reservations r
    JOIN unnest($1::uuid[], $2::bigint[]) AS p (id, price) ON r.id = p.id AND r.remaining >= p.price
    ORDER BY r.id
    FOR UPDATE OF r
)
DELETE FROM reservations r USING covered c WHERE r.id = c.id
RETURNING r.id, r.team_id, r.key_id, r.period_start, r.purpose, r.remaining
