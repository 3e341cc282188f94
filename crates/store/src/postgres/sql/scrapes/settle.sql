-- Takes whole reservations, in one order; those that do not cover their price stay.
WITH covered AS (
    SELECT r.id
    FROM reservations r
    JOIN unnest($1::uuid[], $2::bigint[]) AS p (id, price) ON r.id = p.id AND r.remaining >= p.price
    ORDER BY r.id
    FOR UPDATE OF r
)
DELETE FROM reservations r USING covered c WHERE r.id = c.id
RETURNING r.id, r.team_id, r.key_id, r.period_start, r.purpose, r.remaining
