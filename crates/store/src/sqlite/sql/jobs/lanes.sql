-- The head of every lane that has a due job. Hops from lane to lane in the index jobs_lanes: three
-- probes per lane, however long the queues are.
WITH RECURSIVE
wanted (kind) AS (SELECT value FROM json_each(?1)),
lane (kind, rank, team_id) AS (
    SELECT j.kind, j.rank, j.team_id
    FROM wanted w
    JOIN jobs j ON j.rowid = (
        SELECT f.rowid FROM jobs f
        WHERE f.state = 0 AND f.kind = w.kind
        ORDER BY f.kind, f.rank, f.team_id
        LIMIT 1
    )
    UNION ALL
    SELECT j.kind, j.rank, j.team_id
    FROM lane l
    -- Not one comparison of (rank, team_id): SQLite would walk through all jobs of the lane it leaves.
    JOIN jobs j ON j.rowid = coalesce(
        (
            SELECT n.rowid FROM jobs n
            WHERE n.state = 0 AND n.kind = l.kind AND n.rank = l.rank AND n.team_id > l.team_id
            ORDER BY n.team_id
            LIMIT 1
        ),
        (
            SELECT n.rowid FROM jobs n
            WHERE n.state = 0 AND n.kind = l.kind AND n.rank > l.rank
            ORDER BY n.rank, n.team_id
            LIMIT 1
        )
    )
)
SELECT l.kind, l.rank, l.team_id, t.plan, h.run_at, h.id
FROM lane l
JOIN teams t ON t.id = l.team_id
JOIN jobs h ON h.rowid = (
    SELECT d.rowid FROM jobs d
    WHERE d.state = 0 AND d.kind = l.kind AND d.rank = l.rank AND d.team_id = l.team_id AND d.run_at <= ?2
    ORDER BY d.run_at, d.id
    LIMIT 1
)
