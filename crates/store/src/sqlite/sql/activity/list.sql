SELECT id, endpoint, target, audit, created_at
FROM activity
WHERE team_id = ?1
  AND (?2 IS NULL OR endpoint = ?2)
  AND id < coalesce(?3, x'ffffffffffffffffffffffffffffffffff')
  AND created_at >= ?4
  AND (?6 IS NULL OR key_id = ?7 OR endpoint IN (SELECT value FROM json_each(?6)))
ORDER BY id DESC
LIMIT ?5
