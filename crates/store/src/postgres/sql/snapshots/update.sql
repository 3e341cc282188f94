UPDATE snapshots SET taken_at = gannet_now(), bytes = $3, url = $4, tag = $5, body = $6
WHERE team_id = $1 AND key = $2
