INSERT INTO object_totals (team_id, bytes) VALUES (?1, ?2)
ON CONFLICT (team_id) DO UPDATE SET bytes = bytes + ?2
