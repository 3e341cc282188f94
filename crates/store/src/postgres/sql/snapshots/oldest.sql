SELECT team_id, key, taken_at AS at, bytes FROM snapshots ORDER BY taken_at, team_id, key LIMIT $1
