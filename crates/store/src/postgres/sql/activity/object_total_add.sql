INSERT INTO object_totals AS t (team_id, bytes) VALUES ($1, $2)
ON CONFLICT (team_id) DO UPDATE SET bytes = t.bytes + $2
