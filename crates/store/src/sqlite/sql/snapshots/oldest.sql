SELECT id AS number, bytes FROM snapshots ORDER BY taken_at, id LIMIT ?1
