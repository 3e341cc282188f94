SELECT id, team_id, subject, attempts, document, created_at, queued_at, given_up_at, event, last_error, target, body
FROM deliveries
WHERE team_id = ?1 AND given_up_at IS NOT NULL AND id < coalesce(?2, x'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF')
ORDER BY id DESC
LIMIT ?3
