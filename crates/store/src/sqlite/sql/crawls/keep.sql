UPDATE entries
SET lease_until = ?4
WHERE crawl_id = ?1 AND state = 1 AND lease_owner = ?2
  AND (seq, lease_number) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))
  AND EXISTS (SELECT 1 FROM crawls WHERE id = ?1 AND state = 0)
RETURNING seq, lease_number
