SELECT parent_id FROM jobs WHERE id = $1
