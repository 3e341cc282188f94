SELECT j.id, j.parent_id, j.state
FROM jobs j
WHERE j.id = ?1 AND j.state <= 2 AND j.deadline_at <= ?2
