SELECT team_id, count(*) AS running FROM agent_runs WHERE state = 1 GROUP BY team_id
