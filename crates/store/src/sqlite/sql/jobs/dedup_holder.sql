SELECT id FROM jobs WHERE team_id = ?1 AND kind = ?2 AND dedup_key = ?3 AND parent_id IS NULL
