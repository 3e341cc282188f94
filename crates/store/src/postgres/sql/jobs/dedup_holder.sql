SELECT j.id, j.kind, j.dedup_key
FROM jobs j
JOIN unnest($2::text[], $3::text[]) AS k (kind, dedup_key) ON j.kind = k.kind AND j.dedup_key = k.dedup_key
WHERE j.team_id = $1 AND j.parent_id IS NULL
