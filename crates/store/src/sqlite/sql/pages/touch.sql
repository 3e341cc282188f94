UPDATE pages SET fetched_at = ?3, expires_at = ?3 + keep_for WHERE team_id = ?1 AND key = ?2 AND expires_at > ?3
