-- Crawls that could start something, those first that nobody looked at for longest; with what their teams have
-- running in all their crawls.
WITH candidate AS MATERIALIZED (
    SELECT id, team_id, running + lists_running AS busy, startable, gap, look_from, next_at,
           queued + lists_queued AS waiting,
           greatest(0, least(queued, coalesce(most_documents, 1000000000000) - completed - running - fetched)) AS pages
    FROM crawls
    WHERE has_startable AND next_at <= gannet_now()
    ORDER BY next_at
    LIMIT $1
), team AS MATERIALIZED (
    SELECT w.team_id, t.plan, o.busy
    FROM (SELECT DISTINCT team_id FROM candidate) w
    JOIN teams t ON t.id = w.team_id
    CROSS JOIN LATERAL (
        SELECT sum(c.running + c.lists_running)::bigint AS busy FROM crawls c WHERE c.team_id = w.team_id AND c.state = 0
    ) o
)
SELECT c.id, c.team_id, t.plan, c.busy, c.startable, c.pages, c.gap, c.look_from, c.waiting, t.busy AS team_busy,
       gannet_now() AS now
FROM candidate c
JOIN team t ON t.team_id = c.team_id
ORDER BY c.next_at
