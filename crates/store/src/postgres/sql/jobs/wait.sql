UPDATE jobs
SET state       = 2,
    result      = $2,
    error       = NULL,
    lease_owner = NULL,
    lease_until = NULL
WHERE id = $1
