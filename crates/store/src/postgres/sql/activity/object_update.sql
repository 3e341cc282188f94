-- The expiry always changes: with it a sweep can tell that an object was noted anew since it looked.
UPDATE objects
SET bytes      = $2,
    expires_at = gannet_now() + $3 + CASE WHEN expires_at = gannet_now() + $3 THEN 1 ELSE 0 END
WHERE key = $1
