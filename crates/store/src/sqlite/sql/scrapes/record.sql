-- All that one scrape leaves behind, in one go: going to and from the writer costs more than the writing.
-- The first statement fails when the id is known, and then the others are not run.
INSERT INTO scrapes (id, team_id, key_id, ok, private, credits, created_at, expires_at, bytes, url, error, result)
VALUES ($1, $2, CASE WHEN $5 THEN NULL ELSE $3 END, $4, $5, $6, $7, $8, $9, $11, $12, $13);

INSERT INTO activity (id, team_id, key_id, endpoint, target, audit, created_at)
SELECT $1, $2, $3, $14, $11, $10, $7 WHERE NOT $5
ON CONFLICT DO NOTHING;

INSERT INTO credit_periods (team_id, period_start, used)
SELECT $15, $16, $6 WHERE $6 > 0 OR $19 > 0
ON CONFLICT (team_id, period_start) DO UPDATE SET used = used + $6, reserved = reserved - $19;

INSERT INTO credit_usage (team_id, period_start, key_id, purpose, credits)
SELECT $15, $16, $17, $18, $6 WHERE $6 > 0
ON CONFLICT (team_id, period_start, key_id, purpose) DO UPDATE SET credits = credits + $6
