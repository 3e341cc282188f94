-- Locks in the order of ids, as cancelling does.
WITH held AS (
    SELECT j.id
    FROM jobs j
    JOIN unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS a (id, owner, number)
        ON j.id = a.id AND j.lease_owner = a.owner AND j.lease_number = a.number
    WHERE j.state = 1
    ORDER BY j.id
    FOR NO KEY UPDATE OF j
)
UPDATE jobs j
SET lease_until = gannet_now() + $4
FROM held h
WHERE j.id = h.id
RETURNING j.id, j.lease_owner, j.lease_number, j.cancel_requested
