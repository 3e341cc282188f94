-- What is kept for search. A row whose document is gone stays for a while, so that every reader of the feed learns of it.
--
-- The number of a change is that of its transaction. Transactions commit in any order, so the feed hands out only rows of those below
-- the oldest that still runs: nothing can appear in front of what was read.

CREATE TABLE search_pages (
    team_id    UUID   NOT NULL, -- nil: for every team
    collection TEXT COLLATE "C" NOT NULL,
    key        BYTEA  NOT NULL,
    seq        BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL, -- or when it went
    bytes      BIGINT NOT NULL, -- what the row counts for under the ceiling
    hash       BYTEA  NOT NULL,
    url        TEXT   NOT NULL,
    document   BYTEA,
    PRIMARY KEY (team_id, collection, key)
);
ALTER TABLE search_pages ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE INDEX search_pages_seq ON search_pages (seq);
CREATE INDEX search_pages_age ON search_pages (seen_at) WHERE document IS NOT NULL;
CREATE INDEX search_pages_gone ON search_pages (seen_at) WHERE document IS NULL;

CREATE FUNCTION gannet_change() RETURNS BIGINT LANGUAGE sql VOLATILE
    AS $$ SELECT pg_current_xact_id()::text::bigint $$;

-- One row: which feed this is.
CREATE TABLE search_feed (id UUID NOT NULL PRIMARY KEY);
INSERT INTO search_feed (id) VALUES (gen_random_uuid());

INSERT INTO stored_bytes (kind, bytes) VALUES ('search', 0);
CREATE TRIGGER search_pages_added AFTER INSERT ON search_pages
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_count_added('search');
CREATE TRIGGER search_pages_changed AFTER UPDATE ON search_pages
    REFERENCING OLD TABLE AS gone NEW TABLE AS added EXECUTE FUNCTION gannet_count_changed('search');
CREATE TRIGGER search_pages_deleted AFTER DELETE ON search_pages
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_count_gone('search');

CREATE TABLE searches (
    id         UUID   NOT NULL PRIMARY KEY,
    team_id    UUID   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    query      TEXT   NOT NULL, -- empty when private
    urls       TEXT   NOT NULL  -- JSON
);
CREATE INDEX searches_expiry ON searches (expires_at);

CREATE TABLE feedback (
    id         UUID   NOT NULL PRIMARY KEY,
    team_id    UUID   NOT NULL,
    subject    UUID   NOT NULL, -- the search or job it speaks of
    created_at BIGINT NOT NULL,
    endpoint   TEXT   NOT NULL,
    body       TEXT   NOT NULL  -- JSON
);
CREATE UNIQUE INDEX feedback_subject ON feedback (team_id, subject);

CREATE TABLE valued_sources (
    team_id   UUID   NOT NULL,
    source    TEXT COLLATE "C" NOT NULL, -- a host or an address
    marks     BIGINT NOT NULL,
    marked_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, source)
);
