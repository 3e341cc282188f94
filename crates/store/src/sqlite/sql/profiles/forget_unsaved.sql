DELETE FROM profiles WHERE team_id = ?1 AND name = ?2 AND owner = ?3 AND state IS NULL
