DELETE FROM claims
WHERE (team_id, hash) IN (
    SELECT team_id, hash FROM claims
    WHERE expires_at <= coalesce((SELECT expires_at FROM claims ORDER BY expires_at DESC LIMIT 1 OFFSET ?1), -1)
    ORDER BY expires_at
    LIMIT ?2
)
