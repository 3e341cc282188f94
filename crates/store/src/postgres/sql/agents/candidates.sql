-- As many of each team as could be handed out to one.
SELECT w.id, w.team_id, t.plan
FROM (
    SELECT id, team_id, row_number() OVER (PARTITION BY team_id ORDER BY id) AS place
    FROM agent_runs
    WHERE state = 0 AND lost <= $1
) w
JOIN teams t ON t.id = w.team_id
WHERE w.place <= $2
ORDER BY w.id
