SELECT state FROM jobs WHERE id = $1 AND state <= 2 AND deadline_at <= gannet_now() FOR NO KEY UPDATE
