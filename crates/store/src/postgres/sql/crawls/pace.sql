INSERT INTO host_paces AS p (host, gap, paused_until, set_at)
VALUES ($1, $2, gannet_now() + $3, gannet_now())
ON CONFLICT (host) DO UPDATE SET
    gap          = excluded.gap,
    paused_until = greatest(p.paused_until, excluded.paused_until),
    set_at       = excluded.set_at
