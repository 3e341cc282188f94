SELECT count(*) AS held FROM slots WHERE team_id = $1 AND lease_until > gannet_now()
