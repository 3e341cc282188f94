-- Rotations of one team take turns.
SELECT id FROM teams WHERE id = $1 FOR NO KEY UPDATE
