-- Comes after all that is theirs, and only when that was not too much for one call.
DELETE FROM crawls WHERE ctid = ANY (ARRAY(SELECT ctid FROM crawls WHERE id = ANY ($1) LIMIT $2))
