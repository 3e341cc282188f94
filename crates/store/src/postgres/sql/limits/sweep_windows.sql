DELETE FROM rate_windows
WHERE (team_id, rate_group) IN (
    SELECT team_id, rate_group FROM rate_windows
    WHERE ends_at <= gannet_now()
    ORDER BY ends_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
