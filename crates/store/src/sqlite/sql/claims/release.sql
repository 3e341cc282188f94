DELETE FROM claims WHERE team_id = ?1 AND hash = ?2
