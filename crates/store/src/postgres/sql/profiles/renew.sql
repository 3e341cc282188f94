UPDATE profiles SET lease_until = gannet_now() + $4
WHERE team_id = $1 AND name = $2 AND owner = $3 AND lease_until > gannet_now()
