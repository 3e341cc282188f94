UPDATE crawls
SET queued        = queued + ?2,
    running       = running + ?3,
    fetched       = fetched + ?4,
    lists_queued  = lists_queued + ?5,
    lists_running = lists_running + ?6,
    lists_fetched = lists_fetched + ?7,
    next_at       = CASE WHEN ?8 THEN not_before ELSE next_at END,
    stored        = stored + ?9
WHERE id = ?1
