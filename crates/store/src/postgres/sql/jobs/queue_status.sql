SELECT (SELECT count(*) FROM jobs WHERE team_id = $1 AND state = 0) AS waiting,
       (SELECT count(*) FROM jobs WHERE team_id = $1 AND state = 1) AS active,
       (SELECT max(finished_at) FROM jobs WHERE team_id = $1 AND state = 3) AS most_recent_success
