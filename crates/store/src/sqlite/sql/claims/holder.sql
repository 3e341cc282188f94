SELECT resource, done FROM claims WHERE team_id = ?1 AND hash = ?2 AND expires_at > ?3
