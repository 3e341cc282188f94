SELECT turns FROM agent_threads WHERE id = $1 AND team_id = $2 FOR NO KEY UPDATE
