SELECT id FROM jobs WHERE state <= 2 AND deadline_at <= gannet_now() ORDER BY deadline_at LIMIT $1
