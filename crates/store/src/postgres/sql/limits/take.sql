-- Takes tokens and tells how many, in one statement. A window that ended starts anew; one that seems
-- to end later than a whole window from now (the clock was set back) is cut to that.
INSERT INTO rate_windows AS w (team_id, rate_group, ends_at, taken, granted)
VALUES ($1, $2, gannet_now() + $4, least($5, $3), least($5, $3))
ON CONFLICT (team_id, rate_group) DO UPDATE SET
    taken   = CASE WHEN w.ends_at <= gannet_now() THEN excluded.granted
                   ELSE w.taken + greatest(0, least($5, $3 - w.taken)) END,
    granted = CASE WHEN w.ends_at <= gannet_now() THEN excluded.granted
                   ELSE greatest(0, least($5, $3 - w.taken)) END,
    ends_at = CASE WHEN w.ends_at <= gannet_now() THEN excluded.ends_at
                   ELSE least(w.ends_at, excluded.ends_at) END
RETURNING w.granted, w.taken, w.ends_at - gannet_now() AS resets_in
