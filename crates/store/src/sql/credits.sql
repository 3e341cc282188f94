-- The credit ledger: periods, usage by key and purpose, reservations.

-- name: balance
SELECT used, reserved, tokens FROM credit_periods WHERE team_id = $1 AND period_start = $2

-- name: history
SELECT p.period_start, NULL::text AS key_name, p.used AS credits, p.tokens AS tokens
FROM credit_periods p
WHERE p.team_id = $1
ORDER BY p.period_start DESC
LIMIT $2

-- name: history_by_key
-- A row of credit_usage counts a day; one from before days were counted has a whole month under its first day.
WITH shown AS (
    SELECT period_start, lead(period_start) OVER (ORDER BY period_start) AS next_start
    FROM credit_periods
    WHERE team_id = $1
    ORDER BY period_start DESC
    LIMIT $2
)
SELECT p.period_start, k.name AS key_name, sum(u.credits)::bigint AS credits, sum(u.tokens)::bigint AS tokens
FROM shown p
JOIN credit_usage u ON u.team_id = $1 AND u.period_start >= p.period_start
  AND (p.next_start IS NULL OR u.period_start < p.next_start)
LEFT JOIN api_keys k ON k.id = u.key_id
GROUP BY p.period_start, u.key_id, k.name, k.created_at
ORDER BY p.period_start DESC, k.created_at NULLS FIRST, u.key_id

-- name: usage_by_day
SELECT u.period_start AS day, u.purpose, sum(u.credits)::bigint AS credits, sum(u.tokens)::bigint AS tokens
FROM credit_usage u
WHERE u.team_id = $1 AND u.period_start >= $2
GROUP BY u.period_start, u.purpose
ORDER BY u.period_start, u.purpose

-- name: usage_purge
DELETE FROM credit_usage WHERE team_id IN (SELECT id FROM teams) AND period_start < gannet_now() - $1

-- name: overdue
SELECT r.id
FROM reservations r
WHERE r.hold_until <= gannet_now()
  AND NOT EXISTS (SELECT 1 FROM crawls c WHERE c.reservation = r.id AND c.state = 0)
  AND NOT EXISTS (SELECT 1 FROM agent_runs a WHERE a.reservation = r.id AND a.state <= 1)
ORDER BY r.hold_until
LIMIT $1

-- name: overdue_free
-- Asked after the lock, with a fresh view: a crawl or a run may have been accepted with it just now.
SELECT NOT EXISTS (SELECT 1 FROM crawls WHERE reservation = $1 AND state = 0)
       AND NOT EXISTS (SELECT 1 FROM agent_runs WHERE reservation = $1 AND state <= 1) AS free

-- name: overdue_lock
SELECT id FROM reservations WHERE id = $1 FOR UPDATE SKIP LOCKED

-- name: period_open
INSERT INTO credit_periods (team_id, period_start) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: period_charge
UPDATE credit_periods SET used = used + $3, reserved = reserved - $3 WHERE team_id = $1 AND period_start = $2

-- name: period_release
UPDATE credit_periods SET reserved = reserved - $3 WHERE team_id = $1 AND period_start = $2

-- name: period_settle
INSERT INTO credit_periods AS p (team_id, period_start, used) VALUES ($1, $2, $3)
ON CONFLICT (team_id, period_start) DO UPDATE SET used = p.used + $3, reserved = p.reserved - $4

-- name: period_tokens
UPDATE credit_periods SET tokens = tokens + $3 WHERE team_id = $1 AND period_start = $2

-- name: reserve
UPDATE credit_periods
SET reserved = reserved + $3
WHERE team_id = $1 AND period_start = $2 AND ($4::bigint IS NULL OR used + reserved + $3 <= $4)

-- name: reservation_insert
INSERT INTO reservations (id, team_id, key_id, period_start, purpose, remaining, hold_until)
VALUES ($1, $2, $3, $4, $5, $6, gannet_now() + $7)

-- name: reservation_extend
UPDATE reservations SET remaining = remaining + $2 WHERE id = $1 RETURNING team_id, period_start

-- name: reservation_left
SELECT remaining FROM reservations WHERE id = $1 FOR UPDATE

-- name: reservation_take
UPDATE reservations SET remaining = remaining - $2
WHERE id = $1 AND remaining >= $2
RETURNING team_id, key_id, period_start, purpose

-- name: reservation_close
DELETE FROM reservations WHERE id = $1 RETURNING team_id, period_start, remaining

-- name: usage_add
-- For today, or for the last day of a period that has ended since.
INSERT INTO credit_usage AS u (team_id, period_start, key_id, purpose, credits, tokens)
VALUES ($1, greatest($2::bigint, least($7::bigint, gannet_now() - gannet_now() % 86400000)), $3, $4, $5, $6)
ON CONFLICT (team_id, period_start, key_id, purpose) DO UPDATE SET
    credits = u.credits + excluded.credits,
    tokens  = u.tokens + excluded.tokens

-- name: reservation_open
-- Keeps the reservations from being swept until the work that names them is there.
SELECT id FROM reservations WHERE id = ANY ($1::uuid[]) ORDER BY id FOR KEY SHARE
