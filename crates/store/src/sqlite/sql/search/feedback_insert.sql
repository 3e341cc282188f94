INSERT INTO feedback (id, team_id, subject, created_at, endpoint, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (team_id, subject) DO NOTHING
