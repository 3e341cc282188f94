DELETE FROM claims WHERE team_id = ?1 AND hash = ?2 AND resource = ?3 AND done = 0
