-- Some rows of a team and collection, in the order of their keys; who goes on gives the last key.
SELECT id AS number, key, document IS NOT NULL AND substr(url, 1, length(?4)) = ?4 AS chosen
FROM search_pages
WHERE team_id = ?1 AND collection = ?2 AND key > ?3
ORDER BY key
LIMIT ?5
