SELECT *, gannet_now() AS now
FROM agent_runs_whole
WHERE state = 0
  AND (cancel_requested_at IS NOT NULL OR lost > $1 OR deadline_at <= gannet_now()
       OR (deadline_at IS NULL AND wait_until <= gannet_now()))
ORDER BY id
LIMIT $2
