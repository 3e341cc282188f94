-- What scrapes leave behind: pages, records, snapshots; and claims, secrets, profiles.
-- Bytes come compressed: the server must not try it again, only keep them outside of their rows.

CREATE TABLE pages (
    team_id      UUID   NOT NULL,
    key          BYTEA  NOT NULL,
    fetched_at   BIGINT NOT NULL,
    keep_for     BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    bytes        BIGINT NOT NULL, -- what the row counts for under the ceiling
    status       BIGINT NOT NULL,
    url          TEXT   NOT NULL,
    final_url    TEXT   NOT NULL,
    content_type TEXT   NOT NULL,
    headers      TEXT   NOT NULL, -- JSON
    rung         TEXT   NOT NULL,
    body         BYTEA  NOT NULL,
    PRIMARY KEY (team_id, key)
);
ALTER TABLE pages ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX pages_age ON pages (fetched_at);
CREATE INDEX pages_expiry ON pages (expires_at);

CREATE TABLE scrapes (
    id         UUID    NOT NULL PRIMARY KEY,
    team_id    UUID    NOT NULL,
    key_id     UUID,
    ok         BOOLEAN NOT NULL,
    private    BOOLEAN NOT NULL,
    credits    BIGINT  NOT NULL,
    created_at BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    bytes      BIGINT  NOT NULL, -- what the row counts for under the ceiling
    url        TEXT    NOT NULL,
    error      TEXT,
    result     BYTEA
);
ALTER TABLE scrapes ALTER COLUMN result SET STORAGE EXTERNAL;
CREATE INDEX scrapes_age ON scrapes (created_at, id);
CREATE INDEX scrapes_expiry ON scrapes (expires_at);

CREATE TABLE snapshots (
    team_id  UUID   NOT NULL,
    key      BYTEA  NOT NULL,
    taken_at BIGINT NOT NULL,
    bytes    BIGINT NOT NULL,
    url      TEXT   NOT NULL,
    tag      TEXT   NOT NULL,
    body     BYTEA  NOT NULL,
    PRIMARY KEY (team_id, key)
);
ALTER TABLE snapshots ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX snapshots_age ON snapshots (taken_at);

-- Running totals. Triggers keep them, so that no statement can forget to. A change is a row of its own,
-- which a sweep adds to the total later: at one row for all, every writer would wait for every other.
CREATE TABLE stored_bytes (
    kind  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    bytes BIGINT NOT NULL
);
INSERT INTO stored_bytes (kind, bytes) VALUES ('cache', 0), ('snapshots', 0);

CREATE TABLE stored_changes (
    id    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind  TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL
);
ALTER TABLE stored_changes SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE FUNCTION gannet_count_added() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored_changes (kind, bytes) SELECT TG_ARGV[0], sum(bytes) FROM added HAVING sum(bytes) <> 0;
    RETURN NULL;
END
$$;
CREATE FUNCTION gannet_count_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored_changes (kind, bytes) SELECT TG_ARGV[0], -sum(bytes) FROM gone HAVING sum(bytes) <> 0;
    RETURN NULL;
END
$$;
CREATE FUNCTION gannet_count_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored_changes (kind, bytes)
    SELECT TG_ARGV[0], sum(bytes)
    FROM (SELECT bytes FROM added UNION ALL SELECT -bytes FROM gone) AS c (bytes)
    HAVING sum(bytes) <> 0;
    RETURN NULL;
END
$$;

CREATE TRIGGER pages_added AFTER INSERT ON pages
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_count_added('cache');
CREATE TRIGGER pages_changed AFTER UPDATE ON pages
    REFERENCING OLD TABLE AS gone NEW TABLE AS added EXECUTE FUNCTION gannet_count_changed('cache');
CREATE TRIGGER pages_gone AFTER DELETE ON pages
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_count_gone('cache');
CREATE TRIGGER scrapes_added AFTER INSERT ON scrapes
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_count_added('cache');
CREATE TRIGGER scrapes_gone AFTER DELETE ON scrapes
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_count_gone('cache');
CREATE TRIGGER snapshots_added AFTER INSERT ON snapshots
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_count_added('snapshots');
CREATE TRIGGER snapshots_changed AFTER UPDATE ON snapshots
    REFERENCING OLD TABLE AS gone NEW TABLE AS added EXECUTE FUNCTION gannet_count_changed('snapshots');
CREATE TRIGGER snapshots_gone AFTER DELETE ON snapshots
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_count_gone('snapshots');

CREATE TABLE claims (
    team_id    UUID   NOT NULL,
    hash       BYTEA  NOT NULL, -- of scope and key
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, hash)
);
CREATE INDEX claims_expiry ON claims (expires_at);

CREATE TABLE secrets (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret BYTEA NOT NULL
);

CREATE TABLE profiles (
    team_id     UUID   NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    owner       UUID,            -- the writer, while its lease lasts
    lease_until BIGINT NOT NULL,
    used_at     BIGINT NOT NULL,
    state       BYTEA,           -- none before the first save
    PRIMARY KEY (team_id, name)
);
ALTER TABLE profiles ALTER COLUMN state SET STORAGE EXTERNAL;
CREATE INDEX profiles_used ON profiles (used_at);

-- Who stood behind a request, as the caller says.
ALTER TABLE activity ADD COLUMN audit TEXT;
