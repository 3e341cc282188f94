UPDATE jobs
SET state       = $2,
    result      = coalesce($3, result),
    error       = CASE WHEN $2 = 3 THEN NULL ELSE coalesce($4, error) END,
    lease_owner = NULL,
    lease_until = NULL,
    finished_at = gannet_now(),
    expires_at  = gannet_now() + retain_for
WHERE id = $1
RETURNING reservation
