-- Deliveries of webhooks, their subjects, and the secrets they are signed with.

-- name: claim (sqlite)
UPDATE deliveries SET lease_number = lease_number + 1
WHERE number = (SELECT min(number) FROM deliveries WHERE subject = $1 AND given_up_at IS NULL)
RETURNING id, team_id, subject, lease_number, attempts, document, created_at, queued_at, given_up_at, event, last_error,
          target, body

-- name: claim (postgres)
-- After the subjects were taken: what stood first in them may have changed until then.
UPDATE deliveries d SET lease_number = d.lease_number + 1
FROM unnest($1::uuid[]) AS taken (subject)
CROSS JOIN LATERAL (
    SELECT o.number FROM deliveries o
    WHERE o.subject = taken.subject AND o.given_up_at IS NULL
    ORDER BY o.number
    LIMIT 1
) head
WHERE d.number = head.number
RETURNING d.id, d.team_id, d.subject, d.lease_number, d.attempts, d.document, d.created_at, d.queued_at, d.given_up_at,
          d.event, d.last_error, d.target, d.body

-- name: dead
SELECT id, team_id, subject, attempts, document, created_at, queued_at, given_up_at, event, last_error, target, body
FROM deliveries
WHERE team_id = $1 AND given_up_at IS NOT NULL AND id < $2
ORDER BY id DESC
LIMIT $3

-- name: dead_subject
SELECT subject FROM deliveries WHERE team_id = $1 AND id = $2 AND given_up_at IS NOT NULL

-- name: delivered
DELETE FROM deliveries WHERE id = $1

-- name: due
SELECT EXISTS (SELECT 1 FROM delivery_subjects WHERE due_at <= gannet_now()) AS due

-- name: give_up
UPDATE deliveries
SET attempts = attempts + 1, last_error = $2, given_up_at = gannet_now(), expires_at = gannet_now() + $3
WHERE id = $1

-- name: hand_back
UPDATE deliveries SET due_at = gannet_now() + $2 WHERE id = $1

-- name: held
SELECT subject FROM deliveries WHERE id = $1 AND lease_number = $2 AND given_up_at IS NULL

-- name: insert (sqlite)
-- Written once, however often a caller who got no response repeats it.
INSERT INTO deliveries (
    id, team_id, subject, lease_number, attempts, due_at, document, created_at, queued_at, event, target, body
)
VALUES ($1, $2, $3, 0, 0, $8, $4, gannet_now(), gannet_now(), $5, $6, $7)
ON CONFLICT (id) DO NOTHING

-- name: insert (postgres)
-- Written once, however often a caller who got no response repeats it.
INSERT INTO deliveries (
    id, team_id, subject, lease_number, attempts, due_at, document, created_at, queued_at, event, target, body
)
SELECT n.id, n.team_id, n.subject, 0, 0, n.due_at, n.document, gannet_now(), gannet_now(), n.event, n.target, n.body
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::bytea[], $8::bigint[])
    WITH ORDINALITY AS n (id, team_id, subject, document, event, target, body, due_at, position)
ORDER BY n.position
ON CONFLICT (id) DO NOTHING

-- name: later
UPDATE deliveries SET attempts = attempts + 1, last_error = $2, due_at = gannet_now() + $3 WHERE id = $1

-- name: purge
DELETE FROM deliveries
WHERE number IN (
    SELECT number FROM deliveries
    WHERE given_up_at IS NOT NULL AND expires_at <= gannet_now()
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: revive
UPDATE deliveries
SET attempts = 0, last_error = NULL, due_at = 0, queued_at = gannet_now(), given_up_at = NULL, expires_at = NULL
WHERE team_id = $1 AND id = $2 AND given_up_at IS NOT NULL

-- name: secret_drop
DELETE FROM webhook_secrets WHERE team_id = $1 AND until IS NOT NULL

-- name: secret_insert
INSERT INTO webhook_secrets (team_id, created_at, secret) VALUES ($1, gannet_now(), $2) ON CONFLICT DO NOTHING

-- name: secret_phase_out
UPDATE webhook_secrets SET until = gannet_now() + $2 WHERE team_id = $1 AND until IS NULL

-- name: secrets
SELECT secret, created_at, until
FROM webhook_secrets
WHERE team_id = $1 AND (until IS NULL OR until > gannet_now())
ORDER BY until IS NULL DESC, until DESC

-- name: secrets_purge
DELETE FROM webhook_secrets
WHERE (team_id, until) IN (SELECT team_id, until FROM webhook_secrets WHERE until <= gannet_now() LIMIT $1)

-- name: subject (sqlite)
INSERT INTO delivery_subjects (subject, due_at, held) VALUES ($1, max(gannet_now(), $2), FALSE)
ON CONFLICT DO NOTHING

-- name: subject (postgres)
-- An update that changes nothing holds the row until the end of the transaction.
INSERT INTO delivery_subjects AS s (subject, due_at, held)
SELECT n.subject, greatest(gannet_now(), n.due_at), FALSE FROM unnest($1::uuid[], $2::bigint[]) AS n (subject, due_at)
ON CONFLICT (subject) DO UPDATE SET held = s.held

-- name: subject_close
DELETE FROM delivery_subjects WHERE subject = $1

-- name: subject_lock (postgres)
SELECT s.subject
FROM delivery_subjects s
JOIN deliveries d ON d.subject = s.subject
WHERE d.id = $1
FOR UPDATE OF s

-- name: subject_next
-- When the first open delivery of the subject is due; no row when nothing is open.
UPDATE delivery_subjects AS s SET due_at = greatest(gannet_now(), f.due_at), held = FALSE
FROM (
    SELECT due_at FROM deliveries WHERE subject = $1 AND given_up_at IS NULL ORDER BY number LIMIT 1
) AS f
WHERE s.subject = $1

-- name: subject_wake
-- The subject is due now, unless a sender holds its first delivery.
INSERT INTO delivery_subjects AS s (subject, due_at, held) VALUES ($1, gannet_now(), FALSE)
ON CONFLICT (subject) DO UPDATE SET due_at = CASE WHEN s.held THEN s.due_at ELSE excluded.due_at END

-- name: take
UPDATE delivery_subjects SET due_at = gannet_now() + $2, held = TRUE
WHERE subject IN (
    SELECT subject FROM delivery_subjects
    WHERE due_at <= gannet_now()
    ORDER BY due_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
RETURNING subject

-- name: team_lock (postgres)
-- Rotations of one team run one after the other.
SELECT id FROM teams WHERE id = $1 FOR NO KEY UPDATE
