-- Entries of crawls and runs of agents count like children of jobs.
SELECT (SELECT count(*) FROM jobs WHERE team_id = ?1 AND state = 0)
           + (SELECT coalesce(sum(queued), 0) FROM crawls WHERE team_id = ?1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = ?1 AND state = 0) AS waiting,
       (SELECT count(*) FROM jobs WHERE team_id = ?1 AND state = 1)
           + (SELECT coalesce(sum(running), 0) FROM crawls WHERE team_id = ?1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = ?1 AND state = 1) AS active,
       (
           SELECT max(at) FROM (
               SELECT max(finished_at) AS at FROM jobs WHERE team_id = ?1 AND state = 3
               UNION ALL
               SELECT max(finished_at) FROM crawls WHERE team_id = ?1 AND state = 1
               UNION ALL
               SELECT max(finished_at) FROM agent_runs WHERE team_id = ?1 AND state = 2
           )
       ) AS most_recent_success
