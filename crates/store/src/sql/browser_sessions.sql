-- Sessions of browsers.

-- name: begin
INSERT INTO browser_sessions (
    id, team_id, scrape_id, holder, held_until, reservation, stream, prompted, created_at, expires_at, last_activity, credits,
    delete_at
)
VALUES (
    $1, $2, $3, $4, gannet_now() + $5, $6, $7, $8, gannet_now(), gannet_now() + $9, gannet_now(), 0,
    gannet_now() + $9 + $10
)
RETURNING created_at, expires_at

-- name: get
SELECT * FROM browser_sessions WHERE team_id = $1 AND id = $2 AND delete_at > gannet_now()

-- name: of_scrape
-- The newest session of a scrape that has not ended.
SELECT * FROM browser_sessions
WHERE team_id = $1 AND scrape_id = $2 AND ended_at IS NULL AND held_until > gannet_now()
ORDER BY created_at DESC, id DESC
LIMIT 1

-- name: list
-- $2 is 0 for all, 1 for those that run, 2 for those that have ended.
SELECT * FROM browser_sessions
WHERE team_id = $1 AND delete_at > gannet_now()
  AND ($2 = 0 OR ($2 = 1 AND ended_at IS NULL AND held_until > gannet_now())
       OR ($2 = 2 AND (ended_at IS NOT NULL OR held_until <= gannet_now())))
ORDER BY created_at DESC, id DESC
LIMIT $3

-- name: renew
UPDATE browser_sessions SET held_until = gannet_now() + $3, last_activity = $4, prompted = $5
WHERE id = $1 AND holder = $2 AND ended_at IS NULL

-- name: end
-- One caller ends a session, and pays for it.
UPDATE browser_sessions SET ended_at = gannet_now(), end_reason = $2, credits = $3, delete_at = gannet_now() + $4
WHERE id = $1 AND ended_at IS NULL
RETURNING ended_at

-- name: lost
SELECT * FROM browser_sessions WHERE ended_at IS NULL AND held_until <= gannet_now() ORDER BY held_until LIMIT $1

-- name: purge
DELETE FROM browser_sessions
WHERE id IN (
    SELECT id FROM browser_sessions WHERE delete_at <= gannet_now() ORDER BY delete_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
