SELECT *, ?1 AS now
FROM agent_runs_whole
WHERE state = 0
  AND (cancel_requested_at IS NOT NULL OR lost > ?2 OR deadline_at <= ?1 OR (deadline_at IS NULL AND wait_until <= ?1))
ORDER BY id
LIMIT ?3
