SELECT id, endpoint, target, audit, created_at
FROM activity
WHERE team_id = $1
  AND ($2::text IS NULL OR endpoint = $2)
  AND id < coalesce($3, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
  AND created_at >= gannet_now() - $4
  AND ($6::text[] IS NULL OR key_id = $7 OR endpoint = ANY ($6))
ORDER BY id DESC
LIMIT $5
