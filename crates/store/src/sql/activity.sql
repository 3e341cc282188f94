-- What teams did lately.

-- name: insert
INSERT INTO activity (id, team_id, key_id, endpoint, target, created_at)
VALUES ($1, $2, $3, $4, $5, gannet_now())
ON CONFLICT DO NOTHING

-- name: insert_audited
INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now())
ON CONFLICT DO NOTHING

-- name: list
-- What became of each is told by the record of its job, for as long as there is one.
SELECT a.id, a.endpoint, a.target, a.audit, a.created_at, a.key_id, k.name AS key_name,
       (CASE WHEN s.ok THEN 1 WHEN NOT s.ok THEN 0 END)::bigint AS scrape_ok,
       c.state AS crawl_state, r.state AS run_state, c.completed AS pages, c.failed AS failed_pages,
       coalesce(s.credits, c.credits, r.credits) AS credits,
       coalesce(a.took, c.finished_at - c.created_at, r.finished_at - r.created_at) AS took
FROM (
    SELECT id, endpoint, target, audit, created_at, key_id, took
    FROM activity
    WHERE team_id = $1
      AND ($2::text IS NULL OR endpoint = $2)
      AND id < $3
      AND created_at >= gannet_now() - $4
      AND ($6::text[] IS NULL OR key_id = $7 OR endpoint = ANY ($6))
    ORDER BY id DESC
    LIMIT $5
) a
LEFT JOIN scrapes s ON s.id = a.id
LEFT JOIN crawls c ON c.id = a.id
LEFT JOIN agent_runs r ON r.id = a.id
LEFT JOIN api_keys k ON k.id = a.key_id
ORDER BY a.id DESC

-- name: purge
DELETE FROM activity
WHERE id IN (
    SELECT id FROM activity
    WHERE created_at < gannet_now() - $1
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
