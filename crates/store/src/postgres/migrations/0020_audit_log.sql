-- The audit log of each team: what happened to its keys, sign-ins, applications and settings, who did it and from
-- where. Rows are added and, when they are old, deleted; none is ever changed.

CREATE TABLE audit_log (
    id         UUID   NOT NULL PRIMARY KEY,
    team_id    UUID   NOT NULL,
    action     TEXT   NOT NULL,
    actor_kind TEXT   NOT NULL,
    actor_key  UUID,              -- the key that acted, where one did
    actor_name TEXT   NOT NULL,
    address    TEXT,              -- of who sent the request
    subject    UUID,              -- the id of what it happened to
    details    TEXT   NOT NULL,   -- JSON object
    created_at BIGINT NOT NULL
);
CREATE INDEX audit_log_of_team ON audit_log (team_id, id);
CREATE INDEX audit_log_age ON audit_log (created_at);

CREATE FUNCTION gannet_audit_log_stays() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of the audit log are never changed';
END
$$;
CREATE TRIGGER audit_log_stays BEFORE UPDATE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION gannet_audit_log_stays();
