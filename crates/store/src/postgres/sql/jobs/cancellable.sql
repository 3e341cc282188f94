SELECT state, cancel_requested FROM jobs WHERE id = $1 AND team_id = $2 AND parent_id IS NULL FOR NO KEY UPDATE
