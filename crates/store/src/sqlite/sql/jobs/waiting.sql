SELECT count(*) AS waiting FROM jobs WHERE team_id = ?1 AND state = 0
