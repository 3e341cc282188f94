UPDATE deliveries SET leases = leases + 1
WHERE number = (SELECT min(number) FROM deliveries WHERE subject = ?1 AND given_up_at IS NULL)
RETURNING id, team_id, subject, leases, attempts, document, created_at, queued_at, given_up_at, event, last_error,
          target, body
