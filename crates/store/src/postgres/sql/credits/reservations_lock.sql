-- All that a transaction will touch, in one order, before any period is locked.
SELECT id FROM reservations WHERE id = ANY ($1) ORDER BY id FOR UPDATE
