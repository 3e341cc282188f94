-- As they were read: a page that was fetched anew since then stays.
DELETE FROM pages
WHERE (team_id, key) IN (
    SELECT p.team_id, p.key
    FROM pages p
    JOIN unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS e (team_id, key, fetched_at)
        ON p.team_id = e.team_id AND p.key = e.key AND p.fetched_at = e.fetched_at
    FOR UPDATE OF p SKIP LOCKED
)
