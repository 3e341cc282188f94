SELECT r.id
FROM reservations r
WHERE r.hold_until <= gannet_now()
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.reservation = r.id AND j.state <= 2)
ORDER BY r.hold_until
LIMIT $1
