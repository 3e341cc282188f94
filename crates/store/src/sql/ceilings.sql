-- What lets stored things go when they are over their ceilings.

-- name: crawls_candidates
SELECT id, stored AS bytes FROM crawls
WHERE expires_at > gannet_now() AND finished_at <= gannet_now() - $1
ORDER BY expires_at
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED

-- name: crawls_expire
UPDATE crawls SET expires_at = gannet_now() WHERE id = ANY ($1::uuid[]) AND expires_at > gannet_now()

-- name: crawls_oversized
SELECT c.id, c.team_id, c.key_id, c.kind, c.state, c.private, c.max_documents, c.discovered, c.queued, c.running, c.fetched,
       c.completed, c.failed, c.skipped, c.cancelled, c.lists_queued, c.lists_running, c.lists_fetched, c.version,
       c.bytes, c.credits, c.error, c.created_at, c.finished_at, c.expires_at, c.deadline_at, p.request,
       gannet_now() AS now
FROM crawls c
JOIN crawl_payloads p ON p.crawl_id = c.id
WHERE c.state = 0
  AND (
      c.stored > $2
      OR (
          (SELECT sum(stored) FROM crawls WHERE state = 0) > $3
          AND c.id = (SELECT id FROM crawls WHERE state = 0 ORDER BY stored DESC, id LIMIT 1)
      )
  )
ORDER BY c.stored DESC
LIMIT $1

-- name: crawls_pending
-- Whether some have expired and are still to be deleted.
SELECT EXISTS (SELECT 1 FROM crawls WHERE expires_at <= gannet_now()) AS pending

-- name: deliveries_delete
DELETE FROM deliveries WHERE number = ANY ($1)

-- name: deliveries_given_up
SELECT number, (octet_length(body) + octet_length(target) + 256)::bigint AS bytes
FROM deliveries
WHERE given_up_at IS NOT NULL
ORDER BY expires_at
LIMIT $1
FOR UPDATE SKIP LOCKED

-- name: deliveries_open
-- Of the team that has the most. Looks at every row, which happens only when there are far too many.
SELECT number, (octet_length(body) + octet_length(target) + 256)::bigint AS bytes
FROM deliveries
WHERE given_up_at IS NULL
  AND team_id = (
      SELECT team_id FROM deliveries WHERE given_up_at IS NULL
      GROUP BY team_id
      ORDER BY sum(octet_length(body) + octet_length(target)) DESC
      LIMIT 1
  )
ORDER BY number
LIMIT $1
FOR UPDATE SKIP LOCKED

-- name: runs_candidates
SELECT r.id,
       r.event_bytes + r.snapshot_bytes + octet_length(p.request) + coalesce(octet_length(p.artifact), 0)
           + coalesce(octet_length(p.result), 0) AS bytes
FROM agent_runs r
JOIN run_payloads p ON p.run_id = r.id
WHERE r.expires_at > gannet_now() AND r.finished_at <= gannet_now() - $1
ORDER BY r.expires_at
LIMIT $2
FOR NO KEY UPDATE OF r SKIP LOCKED

-- name: runs_expire
UPDATE agent_runs SET expires_at = gannet_now() WHERE id = ANY ($1::uuid[]) AND expires_at > gannet_now()

-- name: runs_pending
-- Whether some have expired and are still to be deleted.
SELECT EXISTS (SELECT 1 FROM agent_runs WHERE expires_at <= gannet_now()) AS pending

-- name: trim_activity (sqlite)
DELETE FROM activity
WHERE id IN (
    SELECT id FROM activity
    WHERE created_at <= coalesce((SELECT created_at FROM activity ORDER BY created_at DESC LIMIT 1 OFFSET $1), -1)
    ORDER BY created_at
    LIMIT $2
)

-- name: trim_activity (postgres)
DELETE FROM activity
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM activity
    WHERE created_at <= (SELECT created_at FROM activity ORDER BY created_at DESC LIMIT 1 OFFSET $1)
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))

-- name: trim_idempotency_keys (sqlite)
DELETE FROM idempotency_keys
WHERE (team_id, hash) IN (
    SELECT team_id, hash FROM idempotency_keys
    WHERE expires_at <= coalesce((SELECT expires_at FROM idempotency_keys ORDER BY expires_at DESC LIMIT 1 OFFSET $1), -1)
    ORDER BY expires_at
    LIMIT $2
)

-- name: trim_idempotency_keys (postgres)
DELETE FROM idempotency_keys
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys
    WHERE expires_at <= (SELECT expires_at FROM idempotency_keys ORDER BY expires_at DESC LIMIT 1 OFFSET $1)
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))

-- name: trim_feedback (sqlite)
DELETE FROM feedback
WHERE id IN (
    SELECT id FROM feedback
    WHERE id <= coalesce((SELECT id FROM feedback ORDER BY id DESC LIMIT 1 OFFSET $1), x'')
    ORDER BY id
    LIMIT $2
)

-- name: trim_feedback (postgres)
DELETE FROM feedback
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM feedback
    WHERE id <= (SELECT id FROM feedback ORDER BY id DESC LIMIT 1 OFFSET $1)
    ORDER BY id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))

-- name: trim_searches (sqlite)
DELETE FROM searches
WHERE id IN (
    SELECT id FROM searches
    WHERE expires_at <= coalesce((SELECT expires_at FROM searches ORDER BY expires_at DESC LIMIT 1 OFFSET $1), -1)
    ORDER BY expires_at
    LIMIT $2
)

-- name: trim_searches (postgres)
DELETE FROM searches
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM searches
    WHERE expires_at <= (SELECT expires_at FROM searches ORDER BY expires_at DESC LIMIT 1 OFFSET $1)
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
