SELECT run_at, id
FROM jobs
WHERE state = 0 AND kind = $1 AND rank = $2 AND team_id = $3 AND run_at <= gannet_now() AND (run_at, id) > ($4, $5)
ORDER BY run_at, id
LIMIT $6
