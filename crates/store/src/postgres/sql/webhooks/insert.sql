-- Written once, however often a caller who was not answered repeats it.
INSERT INTO deliveries (
    id, team_id, subject, leases, attempts, due_at, document, created_at, queued_at, event, target, body
)
SELECT n.id, n.team_id, n.subject, 0, 0, 0, n.document, gannet_now(), gannet_now(), n.event, n.target, n.body
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::bytea[])
    WITH ORDINALITY AS n (id, team_id, subject, document, event, target, body, place)
ORDER BY n.place
ON CONFLICT (id) DO NOTHING
