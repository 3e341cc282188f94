-- Agent runs, their events, snapshots and payloads, and threads.

-- name: artifact_write
UPDATE run_payloads SET artifact = $2 WHERE run_id = $1

-- name: cancellable
SELECT r.state, r.cancel_requested_at, gannet_now() AS now
FROM agent_runs r
JOIN run_payloads p ON p.run_id = r.id
WHERE r.id = $1 AND r.team_id = $2
FOR NO KEY UPDATE OF r

-- name: candidates
-- As many of each team as could be handed out to one.
SELECT w.id, w.team_id, t.plan
FROM (
    SELECT id, team_id, row_number() OVER (PARTITION BY team_id ORDER BY id) AS place
    FROM agent_runs
    WHERE state = 0 AND lost_leases <= $1
) w
JOIN teams t ON t.id = w.team_id
WHERE w.place <= $2
ORDER BY w.id

-- name: claim_lock (sqlite)
SELECT gannet_now() AS now

-- name: claim_lock (postgres)
-- One claim at a time: that keeps slots and fairness exact over all processes. The lock ends with the transaction.
SELECT pg_advisory_xact_lock(1735289201, 'agent_runs'::regclass::oid::int), gannet_now() AS now

-- name: end
UPDATE agent_runs
SET state = $2, error = $3, lease_owner = NULL, lease_until = NULL, finished_at = $4, expires_at = $4 + retain_for
WHERE id = $1

-- name: event_insert
-- The lock of the run makes the numbers sure.
INSERT INTO agent_events (run_id, number, id, actor, sequence, written_at, body)
VALUES (
    $1, (SELECT coalesce(max(number), 0) + 1 FROM agent_events WHERE run_id = $1), $2, $3,
    (SELECT coalesce(max(sequence), 0) + 1 FROM agent_events WHERE run_id = $1 AND actor = $3), $4, $5
)
ON CONFLICT (run_id, id) DO NOTHING

-- name: event_number
SELECT number FROM agent_events WHERE run_id = $1 AND id = $2

-- name: events
-- The first one whatever its size, then those that together do not exceed the bytes.
SELECT id, number, sequence, written_at, body
FROM (
    SELECT id, number, sequence, written_at, body,
           sum(octet_length(body)) OVER (ORDER BY number) AS bytes, row_number() OVER (ORDER BY number) AS place
    FROM (SELECT * FROM agent_events WHERE run_id = $1 AND number > $2 ORDER BY number LIMIT $3) next
) counted
WHERE bytes <= $4 OR place = 1
ORDER BY number

-- name: expired
SELECT id FROM agent_runs WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED

-- name: hand_back
UPDATE agent_runs
SET state = 0, lease_owner = NULL, lease_until = NULL
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3

-- name: held
SELECT id, team_id, key_id, kind, thread_id, reservation, credits, max_credits, gannet_now() AS now
FROM agent_runs
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3
FOR NO KEY UPDATE

-- name: insert
INSERT INTO agent_runs (
    id, team_id, key_id, kind, generation, thread_id, turn, reservation, max_credits, run_for, retain_for, created_at,
    wait_until, target
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (id) DO NOTHING

-- name: keep (sqlite)
UPDATE agent_runs
SET lease_until = gannet_now() + $4
WHERE id = $1 AND state = 1 AND lease_owner = $2 AND lease_number = $3
RETURNING id, lease_owner, lease_number, cancel_requested_at

-- name: keep (postgres)
UPDATE agent_runs r
SET lease_until = gannet_now() + $4
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS k (id, owner, number)
WHERE r.id = k.id AND r.state = 1 AND r.lease_owner = k.owner AND r.lease_number = k.number
RETURNING r.id, r.lease_owner, r.lease_number, r.cancel_requested_at

-- name: payload
SELECT artifact, result FROM run_payloads WHERE run_id = $1

-- name: payload_insert
INSERT INTO run_payloads (run_id, request) VALUES ($1, $2)

-- name: newest
SELECT max(created_at) AS created_at FROM agent_runs WHERE team_id = $1

-- name: purge (sqlite)
-- Comes after all that is theirs, and only when that was not too much for one call.
DELETE FROM agent_runs WHERE id IN (SELECT unhex(value) FROM json_each($1) LIMIT $2)

-- name: purge (postgres)
-- Comes after all that is theirs, and only when that was not too much for one call.
DELETE FROM agent_runs WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_runs WHERE id = ANY ($1) LIMIT $2))

-- name: purge_events (sqlite)
DELETE FROM agent_events
WHERE (run_id, number) IN (
    SELECT run_id, number FROM agent_events WHERE run_id IN (SELECT unhex(value) FROM json_each($1)) LIMIT $2
)

-- name: purge_events (postgres)
DELETE FROM agent_events WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_events WHERE run_id = ANY ($1) LIMIT $2))

-- name: purge_payloads (sqlite)
DELETE FROM run_payloads WHERE run_id IN (SELECT unhex(value) FROM json_each($1) LIMIT $2)

-- name: purge_payloads (postgres)
DELETE FROM run_payloads WHERE ctid = ANY (ARRAY(SELECT ctid FROM run_payloads WHERE run_id = ANY ($1) LIMIT $2))

-- name: purge_snapshots (sqlite)
DELETE FROM agent_snapshots
WHERE (run_id, id) IN (
    SELECT run_id, id FROM agent_snapshots WHERE run_id IN (SELECT unhex(value) FROM json_each($1)) LIMIT $2
)

-- name: purge_snapshots (postgres)
DELETE FROM agent_snapshots WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_snapshots WHERE run_id = ANY ($1) LIMIT $2))

-- name: purge_threads
-- Not at once: a turn that is being accepted comes first.
DELETE FROM agent_threads
WHERE id IN (
    SELECT t.id FROM agent_threads t
    WHERE t.updated_at <= gannet_now() - 60000 AND NOT EXISTS (SELECT 1 FROM agent_runs WHERE thread_id = t.id)
    ORDER BY t.updated_at
    LIMIT $1
)
AND updated_at <= gannet_now() - 60000

-- name: request_cancel
UPDATE agent_runs SET cancel_requested_at = $2 WHERE id = $1

-- name: result_write
UPDATE run_payloads SET result = $2 WHERE run_id = $1

-- name: run
SELECT *, gannet_now() AS now FROM agent_runs_with_request WHERE id = $1

-- name: run_of_team
SELECT *, gannet_now() AS now FROM agent_runs_with_request WHERE id = $1 AND team_id = $2

-- name: running
SELECT team_id, count(*) AS running FROM agent_runs WHERE state = 1 GROUP BY team_id

-- name: runs
SELECT *, gannet_now() AS now
FROM agent_runs_with_request
WHERE team_id = $1 AND kind = $2 AND created_at < $3
ORDER BY created_at DESC
LIMIT $4

-- name: snapshot
SELECT body FROM agent_snapshots WHERE run_id = $1 AND id = $2

-- name: snapshot_insert
INSERT INTO agent_snapshots (run_id, id, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING

-- name: step
UPDATE agent_runs
SET credits = greatest(credits, $2), events = events + $3, event_bytes = event_bytes + $4,
    snapshot_bytes = snapshot_bytes + $5
WHERE id = $1

-- name: stranded
SELECT *, gannet_now() AS now
FROM agent_runs_with_request
WHERE state = 0
  AND (cancel_requested_at IS NOT NULL OR lost_leases > $1 OR deadline_at <= gannet_now()
       OR (deadline_at IS NULL AND wait_until <= gannet_now()))
ORDER BY id
LIMIT $2

-- name: take
UPDATE agent_runs
SET state = 1, lease_number = lease_number + 1, lease_owner = $2, lease_until = $4 + $3,
    deadline_at = coalesce(deadline_at, $4 + run_for)
WHERE id = $1 AND state = 0
RETURNING id, lease_number

-- name: take_back (sqlite)
UPDATE agent_runs
SET state = 0, lost_leases = lost_leases + 1, lease_owner = NULL, lease_until = NULL
WHERE id IN (SELECT id FROM agent_runs WHERE state = 1 AND lease_until <= gannet_now() ORDER BY lease_until LIMIT $1)

-- name: take_back (postgres)
-- A run that somebody is writing about right now is not lost.
UPDATE agent_runs
SET state = 0, lost_leases = lost_leases + 1, lease_owner = NULL, lease_until = NULL
WHERE id = ANY (ARRAY(
    SELECT id FROM agent_runs
    WHERE state = 1 AND lease_until <= gannet_now()
    ORDER BY lease_until
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
))

-- name: team_lock
-- Starts of one team run one after the other: each run has a moment of its own.
SELECT gannet_now() AS now FROM teams WHERE id = $1 FOR NO KEY UPDATE

-- name: thread
SELECT id, created_at, updated_at FROM agent_threads WHERE id = $1 AND team_id = $2

-- name: thread_busy
SELECT id FROM agent_runs WHERE thread_id = $1 AND state <= 1 LIMIT 1

-- name: thread_insert
INSERT INTO agent_threads (id, team_id, turns, created_at, updated_at) VALUES ($1, $2, 1, $3, $3)

-- name: thread_lock
SELECT turns FROM agent_threads WHERE id = $1 AND team_id = $2 FOR NO KEY UPDATE

-- name: thread_runs
SELECT *, gannet_now() AS now FROM agent_runs_with_request WHERE thread_id = $1 ORDER BY turn DESC LIMIT $2

-- name: thread_touch
UPDATE agent_threads SET updated_at = greatest(updated_at, $2) WHERE id = $1

-- name: thread_turn
UPDATE agent_threads SET turns = turns + 1, updated_at = $2 WHERE id = $1

-- name: unheld
SELECT id, team_id, key_id, kind, thread_id, reservation, credits, max_credits, gannet_now() AS now
FROM agent_runs
WHERE id = $1 AND state = 0
FOR NO KEY UPDATE

-- name: waiting
SELECT 1 FROM agent_runs WHERE state = 0 AND lost_leases <= $1 LIMIT 1
