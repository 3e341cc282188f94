DELETE FROM rate_windows
WHERE (team_id, rate_group) IN (
    SELECT team_id, rate_group FROM rate_windows WHERE ends_at <= ?1 ORDER BY ends_at LIMIT ?2
)
