UPDATE agent_runs r
SET lease_until = gannet_now() + $4
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS k (id, owner, number)
WHERE r.id = k.id AND r.state = 1 AND r.lease_owner = k.owner AND r.lease_number = k.number
RETURNING r.id, r.lease_owner, r.lease_number, r.cancel_requested_at
