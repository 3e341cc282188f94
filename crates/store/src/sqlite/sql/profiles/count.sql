SELECT count(*) AS held FROM profiles WHERE team_id = ?1
