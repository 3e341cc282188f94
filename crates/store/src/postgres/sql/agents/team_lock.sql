-- Starts of one team take turns: each run has a moment of its own.
SELECT gannet_now() AS now FROM teams WHERE id = $1 FOR NO KEY UPDATE
