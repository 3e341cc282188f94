DELETE FROM pages
WHERE (team_id, key) IN (
    SELECT team_id, key FROM pages
    WHERE expires_at <= gannet_now()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
