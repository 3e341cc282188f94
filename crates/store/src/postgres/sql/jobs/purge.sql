-- Only what has nothing of its own left: rows and children went before.
DELETE FROM jobs
WHERE id IN (
    SELECT id FROM jobs j
    WHERE j.parent_id IS NULL AND j.expires_at <= gannet_now() AND j.children_open = 0
      AND NOT EXISTS (SELECT 1 FROM jobs c WHERE c.parent_id = j.id)
      AND NOT EXISTS (SELECT 1 FROM job_rows r WHERE r.owner_id = j.id)
    ORDER BY j.expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
