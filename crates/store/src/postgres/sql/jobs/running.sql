SELECT kind, team_id, count(*) AS running FROM jobs WHERE state = 1 GROUP BY kind, team_id
