UPDATE entries
SET state       = 0,
    attempts    = attempts - ?3,
    reason      = coalesce(?4, reason),
    run_at      = ?5,
    changed_at  = ?6,
    lease_owner = NULL,
    lease_until = NULL
WHERE crawl_id = ?1 AND seq = ?2
