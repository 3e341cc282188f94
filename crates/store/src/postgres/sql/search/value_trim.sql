DELETE FROM valued_sources
WHERE (team_id, source) IN (
    SELECT team_id, source FROM valued_sources
    WHERE team_id = $1 AND source NOT IN (
        SELECT source FROM valued_sources WHERE team_id = $1 ORDER BY marked_at DESC, source LIMIT $2
    )
    FOR UPDATE SKIP LOCKED
)
