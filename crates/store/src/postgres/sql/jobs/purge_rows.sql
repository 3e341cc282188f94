DELETE FROM job_rows
WHERE (owner_id, seq) IN (
    SELECT r.owner_id, r.seq
    FROM job_rows r
    WHERE r.owner_id IN (
        SELECT id FROM jobs
        WHERE parent_id IS NULL AND expires_at <= gannet_now() AND children_open = 0
        ORDER BY expires_at
        LIMIT $1
    )
    LIMIT $1
)
