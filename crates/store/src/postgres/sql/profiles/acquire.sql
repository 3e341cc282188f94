INSERT INTO profiles AS p (team_id, name, owner, lease_until, used_at)
VALUES ($1, $2, $3, gannet_now() + $4, gannet_now())
ON CONFLICT (team_id, name) DO UPDATE SET
    owner       = excluded.owner,
    lease_until = excluded.lease_until,
    used_at     = excluded.used_at
WHERE p.lease_until <= gannet_now()
