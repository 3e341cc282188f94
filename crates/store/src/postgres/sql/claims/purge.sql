DELETE FROM claims
WHERE (team_id, hash) IN (
    SELECT team_id, hash FROM claims
    WHERE expires_at <= gannet_now()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
