INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at)
SELECT id, team_id, key_id, endpoint, target, audit, gannet_now()
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[])
    AS a (id, team_id, key_id, endpoint, target, audit)
ORDER BY id
ON CONFLICT DO NOTHING
