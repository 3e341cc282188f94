INSERT INTO host_paces (host, gap, paused_until, set_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (host) DO UPDATE SET
    gap          = excluded.gap,
    paused_until = max(paused_until, excluded.paused_until),
    set_at       = excluded.set_at
