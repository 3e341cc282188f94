SELECT state, gannet_now() - used_at AS rested FROM profiles WHERE team_id = $1 AND name = $2 AND state IS NOT NULL
