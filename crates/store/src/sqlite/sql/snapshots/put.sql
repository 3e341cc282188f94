INSERT INTO snapshots (team_id, key, taken_at, bytes, url, tag, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (team_id, key) DO UPDATE SET
    taken_at = excluded.taken_at,
    bytes    = excluded.bytes,
    url      = excluded.url,
    tag      = excluded.tag,
    body     = excluded.body
