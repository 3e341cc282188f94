-- The expiry always changes: with it a sweep can tell that an object was noted anew since it looked.
UPDATE objects
SET bytes = ?2, expires_at = CASE WHEN expires_at = ?3 THEN ?3 + 1 ELSE ?3 END
WHERE key = ?1
