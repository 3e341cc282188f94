DELETE FROM objects WHERE key = ?1 AND expires_at = ?2 RETURNING team_id, bytes
