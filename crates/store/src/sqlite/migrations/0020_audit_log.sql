-- The audit log of each team: what happened to its keys, sign-ins, applications and settings, who did it and from
-- where. Rows are added and, when they are old, deleted; none is ever changed.

CREATE TABLE audit_log (
    id         BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    action     TEXT    NOT NULL,
    actor_kind TEXT    NOT NULL,
    actor_key  BLOB,              -- the key that acted, where one did
    actor_name TEXT    NOT NULL,
    address    TEXT,              -- of who sent the request
    subject    BLOB,              -- the id of what it happened to
    details    TEXT    NOT NULL,  -- JSON object
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_of_team ON audit_log (team_id, id);
CREATE INDEX audit_log_age ON audit_log (created_at);

CREATE TRIGGER audit_log_stays BEFORE UPDATE ON audit_log BEGIN
    SELECT raise(ABORT, 'rows of the audit log are never changed');
END;
