UPDATE profiles SET state = ?5, used_at = ?4
WHERE team_id = ?1 AND name = ?2 AND owner = ?3 AND lease_until > ?4
