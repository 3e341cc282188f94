-- Takes tokens and tells how many, in one statement. A window that ended starts anew; one that seems
-- to end later than a whole window from now (the clock was set back) is cut to that.
INSERT INTO rate_windows (team_id, rate_group, ends_at, taken, granted)
VALUES (?1, ?2, ?5 + ?4, min(?6, ?3), min(?6, ?3))
ON CONFLICT (team_id, rate_group) DO UPDATE SET
    taken   = CASE WHEN ends_at <= ?5 THEN excluded.granted ELSE taken + max(0, min(?6, ?3 - taken)) END,
    granted = CASE WHEN ends_at <= ?5 THEN excluded.granted ELSE max(0, min(?6, ?3 - taken)) END,
    ends_at = CASE WHEN ends_at <= ?5 THEN excluded.ends_at ELSE min(ends_at, excluded.ends_at) END
RETURNING granted, taken, ends_at - ?5 AS resets_in
