INSERT INTO pages (team_id, key, fetched_at, keep_for, expires_at, bytes, status, url, final_url, content_type, headers, rung, body)
VALUES (?1, ?2, ?3, ?4, ?3 + ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
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
