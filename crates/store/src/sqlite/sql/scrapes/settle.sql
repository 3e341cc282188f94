-- Takes the whole reservation, unless it does not cover the price or the scrape was recorded before.
DELETE FROM reservations
WHERE id = ?1 AND remaining >= ?2 AND NOT EXISTS (SELECT 1 FROM scrapes WHERE id = ?3)
RETURNING team_id, key_id, period_start, purpose, remaining
