WITH gone AS (
    SELECT o.key
    FROM objects o
    JOIN unnest($1::text[], $2::bigint[]) AS e (key, expires_at) ON o.key = e.key AND o.expires_at = e.expires_at
    ORDER BY o.key
    FOR UPDATE OF o
)
DELETE FROM objects o USING gone g WHERE o.key = g.key RETURNING o.team_id, o.bytes
