SELECT taken, ends_at - gannet_now() AS resets_in
FROM rate_windows
WHERE team_id = $1 AND rate_group = $2 AND ends_at > gannet_now()
