DELETE FROM profiles
WHERE (team_id, name) IN (
    SELECT team_id, name FROM profiles
    WHERE lease_until <= gannet_now() AND (used_at <= gannet_now() - $1 OR state IS NULL)
    ORDER BY used_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
