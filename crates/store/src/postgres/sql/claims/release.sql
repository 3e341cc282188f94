DELETE FROM claims c
USING unnest($1::uuid[], $2::bytea[], $3::uuid[]) AS n (team_id, hash, resource)
WHERE c.team_id = n.team_id AND c.hash = n.hash AND c.resource = n.resource AND NOT c.done
