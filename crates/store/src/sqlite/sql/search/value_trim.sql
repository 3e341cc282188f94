DELETE FROM valued_sources
WHERE team_id = ?1 AND source IN (
    SELECT source FROM valued_sources WHERE team_id = ?1 ORDER BY marked_at DESC, source LIMIT -1 OFFSET ?2
)
