DELETE FROM agent_events WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_events WHERE run_id = ANY ($1) LIMIT $2))
