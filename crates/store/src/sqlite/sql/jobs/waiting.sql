-- What the queue of a plan is held against: jobs, pages of crawls and batches, runs.
SELECT (SELECT count(*) FROM jobs WHERE team_id = ?1 AND state = 0)
           + (SELECT coalesce(sum(queued), 0) FROM crawls WHERE team_id = ?1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = ?1 AND state = 0) AS waiting
