-- The places of those keys that no entry has: there are few, most of what is found is known.
SELECT wanted.key AS place
FROM json_each(?2) wanted
WHERE NOT EXISTS (SELECT 1 FROM entries WHERE crawl_id = ?1 AND key = unhex(wanted.value))
