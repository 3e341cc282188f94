UPDATE entries
SET state        = 1,
    attempts     = attempts + 1,
    lease_number = lease_number + 1,
    lease_owner  = ?3,
    lease_until  = ?4,
    changed_at   = ?5
WHERE crawl_id = ?1 AND seq IN (SELECT value FROM json_each(?2))
RETURNING seq, lease_number, attempts
