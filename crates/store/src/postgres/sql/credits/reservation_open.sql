-- Keeps the reservations from being swept until the jobs that name them are there.
SELECT id FROM reservations WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE
