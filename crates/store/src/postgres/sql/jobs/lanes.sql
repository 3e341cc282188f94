-- The head of every lane that has a due job. Hops from lane to lane in the index jobs_lanes: two
-- probes per lane, however long the queues are.
WITH RECURSIVE lane AS (
    SELECT f.kind, f.rank, f.team_id
    FROM unnest($1::text[]) AS wanted (kind)
    CROSS JOIN LATERAL (
        SELECT j.kind, j.rank, j.team_id
        FROM jobs j
        WHERE j.state = 0 AND j.kind = wanted.kind
        ORDER BY j.kind, j.rank, j.team_id
        LIMIT 1
    ) f
    UNION ALL
    SELECT n.kind, n.rank, n.team_id
    FROM lane l
    CROSS JOIN LATERAL (
        SELECT j.kind, j.rank, j.team_id
        FROM jobs j
        WHERE j.state = 0 AND j.kind = l.kind AND (j.rank, j.team_id) > (l.rank, l.team_id)
        ORDER BY j.kind, j.rank, j.team_id
        LIMIT 1
    ) n
)
SELECT l.kind, l.rank, l.team_id, t.plan, h.run_at, h.id
FROM lane l
JOIN teams t ON t.id = l.team_id
CROSS JOIN LATERAL (
    SELECT d.run_at, d.id
    FROM jobs d
    WHERE d.state = 0 AND d.kind = l.kind AND d.rank = l.rank AND d.team_id = l.team_id
      AND d.run_at <= gannet_now()
    ORDER BY d.run_at, d.id
    LIMIT 1
) h
