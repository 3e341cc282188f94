SELECT taken_at, body FROM snapshots WHERE team_id = ?1 AND key = ?2
