INSERT INTO valued_sources (team_id, source, marks, marked_at)
SELECT ?1, value, 1, ?3 FROM json_each(?2) WHERE true
ON CONFLICT (team_id, source) DO UPDATE SET marks = marks + 1, marked_at = excluded.marked_at
