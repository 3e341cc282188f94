SELECT source, marks FROM valued_sources WHERE team_id = $1 ORDER BY marked_at DESC, source LIMIT $2
