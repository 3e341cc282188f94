-- Monitors, their checks, pages, snapshots and recipients.

-- name: check
SELECT id, monitor_id, state, cause, scheduled_for, created_at, updated_at, started_at, finished_at, lost_leases,
       estimated_credits, credits, result
FROM monitor_checks
WHERE monitor_id = $1 AND id = $2

-- name: check_end
UPDATE monitor_checks
SET state = $2, credits = $3, result = $4, lease_owner = NULL, lease_until = NULL, finished_at = gannet_now(),
    updated_at = gannet_now(), expires_at = gannet_now() + $5, told = $8
WHERE id = $1 AND state = 1 AND lease_owner = $6 AND lease_number = $7

-- name: check_insert
INSERT INTO monitor_checks (
    id, monitor_id, team_id, state, cause, scheduled_for, created_at, updated_at, finished_at, expires_at, lease_number,
    lost_leases, estimated_credits, credits
)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now(), gannet_now(), $7, $8, 0, 0, $9, 0)

-- name: check_pages
SELECT id, status, created_at, body
FROM monitor_pages
WHERE check_id = $1 AND ($2 < 0 OR status = $2)
ORDER BY id
LIMIT $3 OFFSET $4

-- name: checks
SELECT id, monitor_id, state, cause, scheduled_for, created_at, updated_at, started_at, finished_at, lost_leases,
       estimated_credits, credits, result
FROM monitor_checks
WHERE monitor_id = $1 AND ($2 < 0 OR state = $2)
ORDER BY id DESC
LIMIT $3 OFFSET $4

-- name: claim (sqlite)
UPDATE monitor_checks
SET state = 1, lease_owner = $2, lease_number = lease_number + 1, lease_until = gannet_now() + $3,
    started_at = coalesce(started_at, gannet_now()), updated_at = gannet_now()
WHERE id = $1 AND state = 0
RETURNING id, monitor_id, state, cause, scheduled_for, created_at, updated_at, started_at, finished_at, lost_leases,
    estimated_credits, credits, result, lease_number

-- name: claim (postgres)
UPDATE monitor_checks c
SET state = 1, lease_owner = $2, lease_number = lease_number + 1, lease_until = gannet_now() + $3,
    started_at = coalesce(started_at, gannet_now()), updated_at = gannet_now()
FROM unnest($1::uuid[]) AS k (id)
WHERE c.id = k.id AND c.state = 0
RETURNING c.id, monitor_id, state, cause, scheduled_for, created_at, updated_at, started_at, finished_at, lost_leases,
    estimated_credits, credits, result, lease_number

-- name: claim_lock (postgres)
-- One claim at a time, so that teams take turns over all processes. The lock ends with the transaction.
SELECT pg_advisory_xact_lock(1735289206, 'monitor_checks'::regclass::oid::int)

-- name: claimed_monitors
SELECT id, team_id, key_id, state, version, request, next_run_at, last_run_at, current_check, last_summary, created_at,
       updated_at, gannet_now() AS now
FROM monitors
WHERE id = ANY ($1::uuid[]) AND state < 2

-- name: create
INSERT INTO monitors (id, team_id, key_id, state, version, retain_for, created_at, updated_at, next_run_at, request)
VALUES ($1, $2, $3, 0, 1, $4, gannet_now(), gannet_now(), $5, $6)

-- name: current
UPDATE monitors SET current_check = $2 WHERE id = $1

-- name: delete
UPDATE monitors
SET state = 2, next_run_at = NULL, current_check = NULL, last_check = NULL, request = '', updated_at = gannet_now()
WHERE team_id = $1 AND id = $2 AND state < 2

-- name: delete_checks
-- Nobody works on them any more: a write with their lease finds them ended.
UPDATE monitor_checks
SET state = 3, lease_owner = NULL, lease_until = NULL, finished_at = gannet_now(), expires_at = gannet_now()
WHERE monitor_id = $1 AND state < 2

-- name: due
SELECT id, team_id, key_id, state, version, request, next_run_at, last_run_at, current_check, last_summary, created_at,
       updated_at, gannet_now() AS now
FROM monitors
WHERE state = 0 AND next_run_at <= gannet_now()
ORDER BY next_run_at
LIMIT $1

-- name: ended
UPDATE monitors
SET current_check = NULL, last_check = $2, last_run_at = gannet_now(), last_summary = $3
WHERE id = $1 AND current_check = $2

-- name: expired_checks
SELECT c.id
FROM monitor_checks c
LEFT JOIN monitors m ON m.id = c.monitor_id
WHERE c.expires_at <= gannet_now() AND (m.last_check IS NULL OR m.last_check <> c.id)
ORDER BY c.expires_at
LIMIT $1

-- name: find
SELECT id, team_id, key_id, state, version, request, next_run_at, last_run_at, current_check, last_summary, created_at,
       updated_at, gannet_now() AS now
FROM monitors
WHERE team_id = $1 AND id = $2 AND state < 2

-- name: fire
UPDATE monitors
SET next_run_at = $3
WHERE id = $1 AND state = 0 AND next_run_at = $2
RETURNING team_id, current_check, retain_for, gannet_now() AS now

-- name: forget_checks
UPDATE monitor_checks
SET expires_at = gannet_now()
WHERE monitor_id = $1 AND (expires_at IS NULL OR expires_at > gannet_now())

-- name: hand_back
UPDATE monitor_checks
SET state = 0, lease_owner = NULL, lease_until = NULL, updated_at = gannet_now()
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3

-- name: held
-- The monitor is locked before its checks, by everybody.
SELECT c.id, c.monitor_id, m.team_id, m.key_id, m.retain_for, gannet_now() AS now
FROM monitor_checks c
JOIN monitors m ON m.id = c.monitor_id AND m.state < 2
WHERE c.id = $1 AND c.state = 1 AND c.lease_owner = $2 AND c.lease_number = $3
FOR UPDATE OF m

-- name: keep (sqlite)
UPDATE monitor_checks
SET lease_until = gannet_now() + $4
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3
RETURNING id, lease_owner, lease_number

-- name: keep (postgres)
UPDATE monitor_checks c
SET lease_until = gannet_now() + $4
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS k (id, owner, number)
WHERE c.id = k.id AND c.state = 1 AND c.lease_owner = k.owner AND c.lease_number = k.number
RETURNING c.id, c.lease_owner, c.lease_number

-- name: known_pages
SELECT key, url FROM monitor_snapshots WHERE monitor_id = $1 AND target_id = $2 ORDER BY key LIMIT $3

-- name: linked
SELECT id, team_id, key_id, state, version, request, next_run_at, last_run_at, current_check, last_summary, created_at,
       updated_at, gannet_now() AS now
FROM monitors
WHERE id = $1 AND state < 2

-- name: linked_check
SELECT id, monitor_id, state, cause, scheduled_for, created_at, updated_at, started_at, finished_at, lost_leases,
       estimated_credits, credits, result
FROM monitor_checks
WHERE id = $1

-- name: list
SELECT id, team_id, key_id, state, version, request, next_run_at, last_run_at, current_check, last_summary, created_at,
       updated_at, gannet_now() AS now
FROM monitors
WHERE team_id = $1 AND state < 2
ORDER BY id DESC
LIMIT $2 OFFSET $3

-- name: lock
SELECT state, current_check, gannet_now() AS now FROM monitors WHERE team_id = $1 AND id = $2 AND state < 2 FOR UPDATE

-- name: page_insert
INSERT INTO monitor_pages (check_id, key, id, status, credits, created_at, body)
VALUES ($1, $2, $3, $4, $5, gannet_now(), $6)
ON CONFLICT (check_id, key) DO NOTHING

-- name: purge_check
DELETE FROM monitor_checks WHERE id = $1

-- name: purge_monitor
DELETE FROM monitors WHERE id = $1 AND state = 2

-- name: purge_of_deleted
SELECT id FROM monitors WHERE state = 2 ORDER BY id LIMIT 1

-- name: purge_pages (sqlite)
DELETE FROM monitor_pages
WHERE (check_id, key) IN (SELECT check_id, key FROM monitor_pages WHERE check_id = $1 LIMIT $2)

-- name: purge_pages (postgres)
DELETE FROM monitor_pages WHERE ctid = ANY (ARRAY(SELECT ctid FROM monitor_pages WHERE check_id = $1 LIMIT $2))

-- name: purge_recipients
DELETE FROM monitor_recipients WHERE monitor_id = $1

-- name: purge_snapshots (sqlite)
DELETE FROM monitor_snapshots
WHERE (monitor_id, key) IN (SELECT monitor_id, key FROM monitor_snapshots WHERE monitor_id = $1 LIMIT $2)

-- name: purge_snapshots (postgres)
DELETE FROM monitor_snapshots
WHERE ctid = ANY (ARRAY(SELECT ctid FROM monitor_snapshots WHERE monitor_id = $1 LIMIT $2))

-- name: recipient
SELECT monitor_id, email, status, source, token_hash FROM monitor_recipients WHERE token_hash = $1

-- name: recipient_insert
INSERT INTO monitor_recipients (monitor_id, email, status, source, token_hash)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (monitor_id, email) DO NOTHING

-- name: recipient_status
UPDATE monitor_recipients SET status = $2 WHERE token_hash = $1

-- name: recipients
SELECT email, status, source, token_hash FROM monitor_recipients WHERE monitor_id = $1 ORDER BY email

-- name: recipients_drop (sqlite)
DELETE FROM monitor_recipients
WHERE monitor_id = $1 AND status <> 2 AND email NOT IN (SELECT value FROM json_each($2))

-- name: recipients_drop (postgres)
DELETE FROM monitor_recipients WHERE monitor_id = $1 AND status <> 2 AND NOT (email = ANY ($2))

-- name: snapshot
SELECT taken_at, body FROM monitor_snapshots WHERE monitor_id = $1 AND key = $2

-- name: snapshot_delete
DELETE FROM monitor_snapshots WHERE monitor_id = $1 AND key = $2

-- name: snapshot_rewrite
UPDATE monitor_snapshots SET body = $4 WHERE monitor_id = $1 AND key = $2 AND taken_at = $3

-- name: snapshot_write
INSERT INTO monitor_snapshots (monitor_id, key, target_id, taken_at, url, body)
VALUES ($1, $2, $3, gannet_now(), $4, $5)
ON CONFLICT (monitor_id, key) DO UPDATE
SET target_id = excluded.target_id, taken_at = excluded.taken_at, url = excluded.url, body = excluded.body

-- name: sweep
UPDATE monitor_checks
SET state = 0, lease_owner = NULL, lease_until = NULL, lost_leases = lost_leases + 1, updated_at = gannet_now()
WHERE id IN (
    SELECT id FROM monitor_checks WHERE state = 1 AND lease_until <= gannet_now() ORDER BY lease_until LIMIT 1000
    FOR UPDATE SKIP LOCKED
)

-- name: told_checks
SELECT id, monitor_id, state, cause, scheduled_for, created_at, updated_at, started_at, finished_at, lost_leases,
       estimated_credits, credits, result
FROM monitor_checks
WHERE monitor_id = $1 AND finished_at >= $2 AND finished_at <= $3 AND told = 1
ORDER BY id DESC
LIMIT $4

-- name: update
UPDATE monitors
SET state = $4, version = version + 1, request = $5, next_run_at = $6, retain_for = $7, updated_at = gannet_now()
WHERE team_id = $1 AND id = $2 AND version = $3 AND state < 2

-- name: waiting
-- The oldest of each team first, then the second of each, and so on.
SELECT id
FROM (
    SELECT id, scheduled_for, row_number() OVER (PARTITION BY team_id ORDER BY scheduled_for, id) AS place
    FROM monitor_checks
    WHERE state = 0
) w
ORDER BY place, scheduled_for, id
LIMIT $1

-- name: waiting_any
SELECT EXISTS (SELECT 1 FROM monitor_checks WHERE state = 0) AS waiting

-- name: written_pages
SELECT key, status, credits FROM monitor_pages WHERE check_id = $1
