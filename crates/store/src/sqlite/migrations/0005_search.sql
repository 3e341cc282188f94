-- What is kept for search. A row whose document is gone stays for a while, so that every reader of the feed learns of it.

CREATE TABLE search_pages (
    id         INTEGER NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL, -- all zero: for every team
    collection TEXT    NOT NULL,
    key        BLOB    NOT NULL,
    seq        INTEGER NOT NULL, -- the number of the change that wrote it last
    seen_at    INTEGER NOT NULL, -- or when it went
    bytes      INTEGER NOT NULL, -- what the row counts for under the ceiling
    hash       BLOB    NOT NULL,
    url        TEXT    NOT NULL,
    document   BLOB
) STRICT;
CREATE UNIQUE INDEX search_pages_key ON search_pages (team_id, collection, key);
CREATE UNIQUE INDEX search_pages_seq ON search_pages (seq);
CREATE INDEX search_pages_age ON search_pages (seen_at) WHERE document IS NOT NULL;
CREATE INDEX search_pages_gone ON search_pages (seen_at) WHERE document IS NULL;

-- One row: which feed this is, and the number of its last change.
CREATE TABLE search_feed (
    id   BLOB    NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO search_feed (id, last) VALUES (randomblob(16), 0);

INSERT INTO stored_bytes (kind, bytes) VALUES ('search', 0);
CREATE TRIGGER search_pages_added AFTER INSERT ON search_pages BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes WHERE kind = 'search';
END;
CREATE TRIGGER search_pages_changed AFTER UPDATE OF bytes ON search_pages BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.bytes - old.bytes WHERE kind = 'search';
END;
CREATE TRIGGER search_pages_deleted AFTER DELETE ON search_pages BEGIN
    UPDATE stored_bytes SET bytes = bytes - old.bytes WHERE kind = 'search';
END;

CREATE TABLE searches (
    id         BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    query      TEXT    NOT NULL, -- empty when private
    urls       TEXT    NOT NULL  -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX searches_expiry ON searches (expires_at);

CREATE TABLE feedback (
    id         BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    subject    BLOB    NOT NULL, -- the search or job it speaks of
    created_at INTEGER NOT NULL,
    endpoint   TEXT    NOT NULL,
    body       TEXT    NOT NULL  -- JSON
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX feedback_subject ON feedback (team_id, subject);

CREATE TABLE valued_sources (
    team_id   BLOB    NOT NULL,
    source    TEXT    NOT NULL, -- a host or an address
    marks     INTEGER NOT NULL,
    marked_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, source)
) STRICT, WITHOUT ROWID;
