-- As they were read: one that was taken anew since then stays.
DELETE FROM snapshots
WHERE (team_id, key) IN (
    SELECT s.team_id, s.key
    FROM snapshots s
    JOIN unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS e (team_id, key, taken_at)
        ON s.team_id = e.team_id AND s.key = e.key AND s.taken_at = e.taken_at
    FOR UPDATE OF s SKIP LOCKED
)
