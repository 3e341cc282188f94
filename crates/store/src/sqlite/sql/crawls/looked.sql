-- After a look: what was taken, and when and where the next one is worth its while.
UPDATE crawls
SET queued        = queued + ?2,
    running       = running + ?3,
    lists_queued  = lists_queued + ?4,
    lists_running = lists_running + ?5,
    not_before    = coalesce(?6, not_before),
    next_at       = max(coalesce(?6, not_before), ?7),
    look_from     = ?8
WHERE id = ?1
