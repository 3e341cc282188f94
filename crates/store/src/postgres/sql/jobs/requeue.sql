UPDATE jobs
SET state       = 0,
    attempts    = attempts - $2,
    error       = coalesce($3, error),
    run_at      = coalesce(gannet_now() + $4, run_at),
    lease_owner = NULL,
    lease_until = NULL
WHERE id = $1
