SELECT id FROM jobs WHERE state <= 2 AND deadline_at <= ?1 ORDER BY deadline_at LIMIT ?2
