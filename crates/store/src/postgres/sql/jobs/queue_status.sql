-- Open entries of crawls and batches and runs of agents count like jobs.
SELECT (SELECT count(*) FROM jobs WHERE team_id = $1 AND state = 0)
           + (SELECT coalesce(sum(queued), 0)::bigint FROM crawls WHERE team_id = $1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = $1 AND state = 0) AS waiting,
       (SELECT count(*) FROM jobs WHERE team_id = $1 AND state = 1)
           + (SELECT coalesce(sum(running), 0)::bigint FROM crawls WHERE team_id = $1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = $1 AND state = 1) AS active,
       greatest(
           (SELECT max(finished_at) FROM jobs WHERE team_id = $1 AND state = 3),
           (SELECT max(finished_at) FROM crawls WHERE team_id = $1 AND state = 1),
           (SELECT max(finished_at) FROM agent_runs WHERE team_id = $1 AND state = 2)
       ) AS most_recent_success
