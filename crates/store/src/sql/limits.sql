-- Rate windows and leased slots.

-- name: look
SELECT taken, ends_at - gannet_now() AS resets_in
FROM rate_windows
WHERE team_id = $1 AND rate_group = $2 AND ends_at > gannet_now()

-- name: slot_delete
DELETE FROM slots WHERE id = $1

-- name: slot_insert
INSERT INTO slots (id, team_id, lease_until) VALUES ($1, $2, gannet_now() + $3)

-- name: slot_renew (sqlite)
UPDATE slots SET lease_until = gannet_now() + $2 WHERE id = $1 AND lease_until > gannet_now() RETURNING id

-- name: slot_renew (postgres)
WITH live AS (
    SELECT id FROM slots WHERE id = ANY ($1) AND lease_until > gannet_now() ORDER BY id FOR NO KEY UPDATE
)
UPDATE slots s SET lease_until = gannet_now() + $2 FROM live l WHERE s.id = l.id RETURNING s.id

-- name: slots_held
SELECT count(*) AS held FROM slots WHERE team_id = $1 AND lease_until > gannet_now()

-- name: slots_lock (postgres)
-- Acquiring takes turns per team; the lock goes with the transaction.
SELECT pg_advisory_xact_lock(1735289202, hashtext($1::text))

-- name: sweep_slots
DELETE FROM slots
WHERE id IN (
    SELECT id FROM slots WHERE lease_until <= gannet_now() ORDER BY lease_until LIMIT $1 FOR UPDATE SKIP LOCKED
)

-- name: sweep_windows
DELETE FROM rate_windows
WHERE (team_id, rate_group) IN (
    SELECT team_id, rate_group FROM rate_windows
    WHERE ends_at <= gannet_now()
    ORDER BY ends_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: take
-- Takes tokens and returns how many, in one statement. A window that ended starts anew; one that seems
-- to end later than a whole window from now (the clock was set back) is cut to that.
INSERT INTO rate_windows AS w (team_id, rate_group, ends_at, taken, granted)
VALUES ($1, $2, gannet_now() + $4, least($5, $3), least($5, $3))
ON CONFLICT (team_id, rate_group) DO UPDATE SET
    taken   = CASE WHEN w.ends_at <= gannet_now() THEN excluded.granted
                   ELSE w.taken + greatest(0, least($5, $3 - w.taken)) END,
    granted = CASE WHEN w.ends_at <= gannet_now() THEN excluded.granted
                   ELSE greatest(0, least($5, $3 - w.taken)) END,
    ends_at = CASE WHEN w.ends_at <= gannet_now() THEN excluded.ends_at
                   ELSE least(w.ends_at, excluded.ends_at) END
RETURNING granted, taken, ends_at - gannet_now() AS resets_in
