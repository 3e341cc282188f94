INSERT INTO activity (id, team_id, key_id, endpoint, target, created_at)
SELECT id, team_id, key_id, endpoint, target, gannet_now()
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[]) AS a (id, team_id, key_id, endpoint, target)
ORDER BY id
ON CONFLICT DO NOTHING
