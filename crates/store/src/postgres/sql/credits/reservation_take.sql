UPDATE reservations SET remaining = remaining - $2
WHERE id = $1 AND remaining >= $2
RETURNING team_id, key_id, period_start, purpose
