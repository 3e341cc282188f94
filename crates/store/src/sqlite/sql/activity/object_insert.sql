INSERT INTO objects (key, team_id, bytes, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING
