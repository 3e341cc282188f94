-- In the order given: the caller sorts by dedup key, so that two inserts never wait for each other.
INSERT INTO jobs (
    id, team_id, parent_id, kind, payload, state, rank, max_attempts, reservation, dedup_key, retain_for,
    created_at, run_at, deadline_at
)
SELECT n.id, $1, $2, n.kind, n.payload, $3, n.rank, n.max_attempts, n.reservation, n.dedup_key, n.retain_for,
       gannet_now(), gannet_now() + n.delay, gannet_now() + n.deadline
FROM unnest(
    $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::uuid[], $10::text[], $11::bigint[],
    $12::bigint[], $13::bigint[]
) AS n (id, kind, payload, rank, max_attempts, reservation, dedup_key, retain_for, delay, deadline)
ON CONFLICT DO NOTHING
RETURNING id
