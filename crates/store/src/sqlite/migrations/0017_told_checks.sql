-- Checks that had something to tell people: the entries of feeds, and what is told when quiet hours end.

ALTER TABLE monitor_checks ADD COLUMN told INTEGER NOT NULL DEFAULT 0; -- 1 when it had
CREATE INDEX monitor_checks_told ON monitor_checks (monitor_id, id) WHERE told = 1;
