-- With a shorter gap, crawls that wait for the longer one are worth a look.
UPDATE crawls SET next_at = not_before
WHERE startable > 0 AND next_at > $4 AND EXISTS (SELECT 1 FROM host_paces WHERE host = $1 AND gap > $2);

INSERT INTO host_paces (host, gap, paused_until, set_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (host) DO UPDATE SET
    gap          = excluded.gap,
    paused_until = max(paused_until, excluded.paused_until),
    set_at       = excluded.set_at
