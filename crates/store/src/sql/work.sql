-- What a team has waiting and running: pages of crawls and batches, and agent runs.

-- name: queue_status
SELECT (SELECT coalesce(sum(queued), 0)::bigint FROM crawls WHERE team_id = $1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = $1 AND state = 0) AS waiting,
       (SELECT coalesce(sum(running), 0)::bigint FROM crawls WHERE team_id = $1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = $1 AND state = 1) AS active,
       (
           SELECT max(at) FROM (
               SELECT max(finished_at) AS at FROM crawls WHERE team_id = $1 AND state = 1
               UNION ALL
               SELECT max(finished_at) FROM agent_runs WHERE team_id = $1 AND state = 2
           ) AS finished
       ) AS most_recent_success

-- name: waiting
-- What the queue limit of a plan is compared with.
SELECT (SELECT coalesce(sum(queued), 0)::bigint FROM crawls WHERE team_id = $1 AND state = 0)
           + (SELECT count(*) FROM agent_runs WHERE team_id = $1 AND state = 0) AS waiting

-- name: waiting_lock (postgres)
-- One transaction at a time counts what a team has waiting; the lock ends with the transaction.
SELECT pg_advisory_xact_lock(1735289204, hashtext($1::text))
