-- How crawls stand after a claim looked at them: what was taken, and when and where the next look is worth its
-- while. When more is queued than the claim saw (only claims take from the queue), it cannot tell.
UPDATE crawls c
SET queued        = c.queued - l.pages,
    running       = c.running + l.pages,
    lists_queued  = c.lists_queued - l.lists,
    lists_running = c.lists_running + l.lists,
    look_from     = l.look_from,
    not_before    = CASE WHEN l.pages + l.lists > 0 AND c.gap > 0 THEN gannet_now() + c.gap ELSE c.not_before END,
    next_at       = greatest(
        CASE WHEN l.pages + l.lists > 0 AND c.gap > 0 THEN gannet_now() + c.gap ELSE c.not_before END,
        CASE WHEN c.queued + c.lists_queued = l.waiting THEN coalesce(l.next_at, c.next_at) ELSE c.next_at END
    )
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS l (crawl_id, pages, lists, waiting, look_from, next_at)
WHERE c.id = l.crawl_id
