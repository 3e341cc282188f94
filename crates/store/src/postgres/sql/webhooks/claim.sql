-- After the subjects were taken: what stood first in them may have changed until then.
UPDATE deliveries d SET leases = d.leases + 1
FROM unnest($1::uuid[]) AS taken (subject)
CROSS JOIN LATERAL (
    SELECT o.number FROM deliveries o
    WHERE o.subject = taken.subject AND o.given_up_at IS NULL
    ORDER BY o.number
    LIMIT 1
) head
WHERE d.number = head.number
RETURNING d.id, d.team_id, d.subject, d.leases, d.attempts, d.document, d.created_at, d.queued_at, d.given_up_at,
          d.event, d.last_error, d.target, d.body
