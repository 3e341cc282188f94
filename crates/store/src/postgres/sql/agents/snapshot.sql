SELECT body FROM agent_snapshots WHERE run_id = $1 AND id = $2
