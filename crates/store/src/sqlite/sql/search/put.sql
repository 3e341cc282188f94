-- The same words again are written once a day, so that the page stays among the young ones.
INSERT INTO search_pages (team_id, collection, key, seq, seen_at, bytes, hash, url, document)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (team_id, collection, key) DO UPDATE SET
    seq      = excluded.seq,
    seen_at  = excluded.seen_at,
    bytes    = excluded.bytes,
    hash     = excluded.hash,
    url      = excluded.url,
    document = excluded.document
WHERE document IS NULL OR hash <> excluded.hash OR seen_at <= excluded.seen_at - ?10
