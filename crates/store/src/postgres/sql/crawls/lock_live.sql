-- Always before any of their entries, and in the order of ids, so that nobody waits in a circle.
SELECT id, team_id, private FROM crawls WHERE id = ANY ($1) AND state = 0 ORDER BY id FOR NO KEY UPDATE
