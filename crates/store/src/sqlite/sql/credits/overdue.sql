SELECT r.id
FROM reservations r
WHERE r.hold_until <= ?1
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.reservation = r.id AND j.state <= 2)
  AND NOT EXISTS (SELECT 1 FROM crawls c WHERE c.reservation = r.id AND c.state = 0)
  AND NOT EXISTS (SELECT 1 FROM agent_runs a WHERE a.reservation = r.id AND a.state <= 1)
ORDER BY r.hold_until
LIMIT ?2
