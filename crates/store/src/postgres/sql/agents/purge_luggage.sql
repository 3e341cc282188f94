DELETE FROM agent_luggage WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_luggage WHERE run_id = ANY ($1) LIMIT $2))
