UPDATE profiles SET used_at = ?3 WHERE team_id = ?1 AND name = ?2
