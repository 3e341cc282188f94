-- Entries that teams have running.
SELECT team_id, sum(running + lists_running) AS busy
FROM crawls
WHERE state = 0 AND running + lists_running > 0
GROUP BY team_id
