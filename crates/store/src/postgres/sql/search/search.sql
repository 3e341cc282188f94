SELECT id, created_at, query, urls FROM searches WHERE id = $1 AND team_id = $2 AND expires_at > gannet_now()
