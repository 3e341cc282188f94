-- Comes after all that is theirs, and only when that was not too much for one call.
DELETE FROM agent_runs WHERE ctid = ANY (ARRAY(SELECT ctid FROM agent_runs WHERE id = ANY ($1) LIMIT $2))
