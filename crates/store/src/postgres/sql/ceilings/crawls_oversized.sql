SELECT c.id, c.team_id, c.key_id, c.kind, c.state, c.private, c.most_documents, c.discovered, c.queued, c.running, c.fetched,
       c.completed, c.failed, c.skipped, c.cancelled, c.lists_queued, c.lists_running, c.lists_fetched, c.version,
       c.bytes, c.credits, c.error, c.created_at, c.finished_at, c.expires_at, c.deadline_at, l.request,
       gannet_now() AS now
FROM crawls c
JOIN crawl_luggage l ON l.crawl_id = c.id
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
