SELECT r.seq, r.job_id, r.body, r.created_at
FROM jobs j
JOIN job_rows r ON r.owner_id = j.id
WHERE j.id = $1 AND j.team_id = $2 AND r.seq > $3
ORDER BY r.seq
LIMIT $4
