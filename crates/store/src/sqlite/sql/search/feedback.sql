SELECT id FROM feedback WHERE team_id = ?1 AND subject = ?2
