-- Pages kept for search, searches, feedback and valued sources.

-- name: batch
-- Some rows of a team and collection, in the order of their keys; who goes on gives the last key.
SELECT key, document IS NOT NULL AND substr(url, 1, length($4::text)) = $4 AS chosen
FROM search_pages
WHERE team_id = $1 AND collection = $2 AND key > $3
ORDER BY key
LIMIT $5

-- name: evict (sqlite)
-- As it was read: a page that was seen again since then stays.
UPDATE search_feed SET last = last + 1;

UPDATE search_pages
SET seq = (SELECT last FROM search_feed), seen_at = gannet_now(), bytes = 0, hash = x'', url = '', document = NULL
WHERE team_id = $1 AND collection = $2 AND key = $3 AND seen_at = $4
RETURNING key

-- name: evict (postgres)
-- As they were read: a page that was seen again since then stays.
UPDATE search_pages
SET seq = gannet_change(), seen_at = gannet_now(), bytes = 0, hash = ''::bytea, url = '', document = NULL
WHERE (team_id, collection, key) IN (
    SELECT s.team_id, s.collection, s.key
    FROM search_pages s
    JOIN unnest($1::uuid[], $2::text[], $3::bytea[], $4::bigint[]) AS e (team_id, collection, key, seen_at)
        ON s.team_id = e.team_id AND s.collection = e.collection AND s.key = e.key AND s.seen_at = e.seen_at
    FOR UPDATE OF s SKIP LOCKED
)
RETURNING key

-- name: feed (sqlite)
SELECT seq, team_id, collection, key, seen_at, document FROM search_pages WHERE seq > $1 ORDER BY seq LIMIT $2

-- name: feed (postgres)
SELECT seq, team_id, collection, key, seen_at, document
FROM search_pages
WHERE seq > $1 AND seq < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY seq
FETCH FIRST $2 ROWS WITH TIES

-- name: feedback
SELECT id FROM feedback WHERE team_id = $1 AND subject = $2

-- name: feedback_insert
INSERT INTO feedback (id, team_id, subject, created_at, endpoint, body)
VALUES ($1, $2, $3, gannet_now(), $4, $5)
ON CONFLICT (team_id, subject) DO NOTHING

-- name: forget (sqlite)
UPDATE search_feed SET last = last + 1;

UPDATE search_pages
SET seq = (SELECT last FROM search_feed), seen_at = gannet_now(), bytes = 0, hash = x'', url = '', document = NULL
WHERE team_id = $1 AND collection = $2 AND key = $3
RETURNING key

-- name: forget (postgres)
UPDATE search_pages
SET seq = gannet_change(), seen_at = gannet_now(), bytes = 0, hash = ''::bytea, url = '', document = NULL
WHERE (team_id, collection, key) IN (
    SELECT s.team_id, s.collection, s.key
    FROM search_pages s
    JOIN unnest($3::bytea[]) AS g (key) ON s.key = g.key
    WHERE s.team_id = $1 AND s.collection = $2
    ORDER BY s.key
    FOR UPDATE OF s
)
RETURNING key

-- name: has
SELECT 1 AS found
FROM search_pages
WHERE team_id = $1 AND collection = $2 AND key = $3 AND document IS NOT NULL

-- name: oldest
SELECT team_id, collection, key, seen_at, bytes
FROM search_pages
WHERE document IS NOT NULL
ORDER BY seen_at, key
LIMIT $1

-- name: purge_pages
DELETE FROM search_pages
WHERE (team_id, collection, key) IN (
    SELECT team_id, collection, key FROM search_pages
    WHERE document IS NULL AND seen_at <= gannet_now() - $1
    ORDER BY seen_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)

-- name: purge_searches
DELETE FROM searches
WHERE id IN (
    SELECT id FROM searches
    WHERE expires_at <= gannet_now() - $1
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)

-- name: put (sqlite)
-- The same words again are written once a day, so that the page stays among the young ones.
UPDATE search_feed SET last = last + 1;

INSERT INTO search_pages AS s (team_id, collection, key, seq, seen_at, bytes, hash, url, document)
VALUES ($1, $2, $3, (SELECT last FROM search_feed), gannet_now(), $4, $5, $6, $7)
ON CONFLICT (team_id, collection, key) DO UPDATE SET
    seq      = excluded.seq,
    seen_at  = excluded.seen_at,
    bytes    = excluded.bytes,
    hash     = excluded.hash,
    url      = excluded.url,
    document = excluded.document
WHERE s.document IS NULL OR s.hash <> excluded.hash OR s.seen_at <= excluded.seen_at - $8
RETURNING key

-- name: put (postgres)
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
RETURNING key

-- name: renumber (postgres)
-- A database that was restored into a younger cluster has rows of transactions that are still to come there.
UPDATE search_pages SET seq = gannet_change()
WHERE (team_id, collection, key) IN (
    SELECT team_id, collection, key FROM search_pages
    WHERE seq >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    ORDER BY seq
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: search
SELECT id, created_at, query, urls FROM searches WHERE id = $1 AND team_id = $2 AND expires_at > gannet_now()

-- name: search_insert
INSERT INTO searches (id, team_id, created_at, expires_at, query, urls)
VALUES ($1, $2, gannet_now(), gannet_now() + $3, $4, $5)
ON CONFLICT (id) DO NOTHING

-- name: progress (sqlite)
SELECT id, gannet_now() AS now, last < $1 AS ahead FROM search_feed

-- name: progress (postgres)
SELECT id, gannet_now() AS now, $1 >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead FROM search_feed

-- name: totals
SELECT collection, count(*) AS pages, sum(bytes)::bigint AS bytes
FROM search_pages
WHERE document IS NOT NULL
GROUP BY collection
ORDER BY collection

-- name: value (sqlite)
INSERT INTO valued_sources AS v (team_id, source, marks, marked_at)
SELECT $1, value, 1, gannet_now() FROM json_each($2) WHERE true
ON CONFLICT (team_id, source) DO UPDATE SET marks = v.marks + 1, marked_at = excluded.marked_at

-- name: value (postgres)
INSERT INTO valued_sources AS v (team_id, source, marks, marked_at)
SELECT $1, source, 1, gannet_now() FROM unnest($2::text[]) AS u (source) ORDER BY source COLLATE "C"
ON CONFLICT (team_id, source) DO UPDATE SET marks = v.marks + 1, marked_at = excluded.marked_at

-- name: value_trim
DELETE FROM valued_sources
WHERE (team_id, source) IN (
    SELECT team_id, source FROM valued_sources
    WHERE team_id = $1 AND source NOT IN (
        SELECT source FROM valued_sources WHERE team_id = $1 ORDER BY marked_at DESC, source LIMIT $2
    )
    FOR UPDATE SKIP LOCKED
)

-- name: valued
SELECT source, marks FROM valued_sources WHERE team_id = $1 ORDER BY marked_at DESC, source LIMIT $2
