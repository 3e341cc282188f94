-- Locks in the order of ids, so that processes that note the same keys do not block each other for good.
WITH used AS (
    SELECT id, max(at) AS at FROM unnest($1::uuid[], $2::bigint[]) AS u (id, at) GROUP BY id
),
held AS (
    SELECT k.id, u.at
    FROM api_keys k
    JOIN used u ON u.id = k.id
    WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
    ORDER BY k.id
    FOR NO KEY UPDATE OF k
)
UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, h.at) FROM held h WHERE k.id = h.id
