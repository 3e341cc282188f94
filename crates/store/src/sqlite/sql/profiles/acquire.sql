INSERT INTO profiles (team_id, name, owner, lease_until, used_at) VALUES (?1, ?2, ?3, ?5, ?4)
ON CONFLICT (team_id, name) DO UPDATE SET
    owner       = excluded.owner,
    lease_until = excluded.lease_until,
    used_at     = excluded.used_at
WHERE profiles.lease_until <= ?4
