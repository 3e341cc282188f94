UPDATE profiles SET used_at = gannet_now() WHERE team_id = $1 AND name = $2
