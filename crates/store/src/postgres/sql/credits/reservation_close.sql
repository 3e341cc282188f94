DELETE FROM reservations WHERE id = $1 RETURNING team_id, period_start, remaining
