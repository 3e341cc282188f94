DELETE FROM agent_snapshots WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_snapshots WHERE run_id = ANY ($1) LIMIT $2))
