INSERT INTO valued_sources AS v (team_id, source, marks, marked_at)
SELECT $1, source, 1, gannet_now() FROM unnest($2::text[]) AS u (source) ORDER BY source COLLATE "C"
ON CONFLICT (team_id, source) DO UPDATE SET marks = v.marks + 1, marked_at = excluded.marked_at
