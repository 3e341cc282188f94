-- What scrapes leave behind: pages, records, snapshots; and claims, secrets, profiles.
-- The bytes stand last in their rows: whoever reads the columns before them does not read them too.

CREATE TABLE pages (
    id           INTEGER NOT NULL PRIMARY KEY,
    team_id      BLOB    NOT NULL,
    key          BLOB    NOT NULL,
    fetched_at   INTEGER NOT NULL,
    keep_for     INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    bytes        INTEGER NOT NULL, -- what the row counts for under the ceiling
    status       INTEGER NOT NULL,
    url          TEXT    NOT NULL,
    final_url    TEXT    NOT NULL,
    content_type TEXT    NOT NULL,
    headers      TEXT    NOT NULL, -- JSON
    rung         TEXT    NOT NULL,
    body         BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX pages_key ON pages (team_id, key);
CREATE INDEX pages_age ON pages (fetched_at);
CREATE INDEX pages_expiry ON pages (expires_at);

-- Row numbers grow, so their order is the order of age.
CREATE TABLE scrapes (
    number     INTEGER NOT NULL PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    team_id    BLOB    NOT NULL,
    key_id     BLOB,
    ok         INTEGER NOT NULL,
    private    INTEGER NOT NULL,
    credits    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    bytes      INTEGER NOT NULL, -- what the row counts for under the ceiling
    url        TEXT    NOT NULL,
    error      TEXT,
    result     BLOB
) STRICT;
CREATE INDEX scrapes_expiry ON scrapes (expires_at);

CREATE TABLE snapshots (
    id       INTEGER NOT NULL PRIMARY KEY,
    team_id  BLOB    NOT NULL,
    key      BLOB    NOT NULL,
    taken_at INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    url      TEXT    NOT NULL,
    tag      TEXT    NOT NULL,
    body     BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX snapshots_key ON snapshots (team_id, key);
CREATE INDEX snapshots_age ON snapshots (taken_at);

-- Running totals. Triggers keep them, so that no statement can forget to.
CREATE TABLE stored_bytes (
    kind  TEXT    NOT NULL PRIMARY KEY,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO stored_bytes (kind, bytes) VALUES ('cache', 0), ('snapshots', 0);

CREATE TRIGGER pages_added AFTER INSERT ON pages BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes WHERE kind = 'cache';
END;
CREATE TRIGGER pages_changed AFTER UPDATE OF bytes ON pages BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes - old.bytes WHERE kind = 'cache';
END;
CREATE TRIGGER pages_gone AFTER DELETE ON pages BEGIN
    UPDATE stored_bytes SET bytes = bytes - old.bytes WHERE kind = 'cache';
END;
CREATE TRIGGER scrapes_added AFTER INSERT ON scrapes BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes WHERE kind = 'cache';
END;
CREATE TRIGGER scrapes_gone AFTER DELETE ON scrapes BEGIN
    UPDATE stored_bytes SET bytes = bytes - old.bytes WHERE kind = 'cache';
END;
CREATE TRIGGER snapshots_added AFTER INSERT ON snapshots BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes WHERE kind = 'snapshots';
END;
CREATE TRIGGER snapshots_changed AFTER UPDATE OF bytes ON snapshots BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes - old.bytes WHERE kind = 'snapshots';
END;
CREATE TRIGGER snapshots_gone AFTER DELETE ON snapshots BEGIN
    UPDATE stored_bytes SET bytes = bytes - old.bytes WHERE kind = 'snapshots';
END;

CREATE TABLE claims (
    team_id    BLOB    NOT NULL,
    hash       BLOB    NOT NULL, -- of scope and key
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_expiry ON claims (expires_at);

CREATE TABLE secrets (
    name   TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE profiles (
    team_id     BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    owner       BLOB,             -- the writer, while its lease lasts
    lease_until INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,
    state       BLOB,             -- none before the first save
    PRIMARY KEY (team_id, name)
) STRICT;
CREATE INDEX profiles_used ON profiles (used_at);

-- Who stood behind a request, as the caller says.
ALTER TABLE activity ADD COLUMN audit TEXT;
