-- Entries of locked crawls changed hands. What went back to the queue is looked for by the next claim.
UPDATE crawls c
SET queued        = c.queued + m.queued,
    running       = c.running + m.running,
    fetched       = c.fetched + m.fetched,
    lists_queued  = c.lists_queued + m.lists_queued,
    lists_running = c.lists_running + m.lists_running,
    lists_fetched = c.lists_fetched + m.lists_fetched,
    next_at       = CASE WHEN m.queued > 0 OR m.lists_queued > 0 THEN c.not_before ELSE c.next_at END,
    stored        = c.stored + m.stored
FROM unnest(
    $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]
) AS m (crawl_id, queued, running, fetched, lists_queued, lists_running, lists_fetched, stored)
WHERE c.id = m.crawl_id
