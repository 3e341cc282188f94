-- Sessions of browsers that callers drive. The browser belongs to one process (`holder`), which renews its right to the
-- row while it lives; a row whose right has run out lost its browser. Kept for a while after their end.

CREATE TABLE browser_sessions (
    id            BLOB    NOT NULL PRIMARY KEY,
    team_id       BLOB    NOT NULL,
    scrape_id     BLOB   ,          -- whose page it began with
    holder        BLOB    NOT NULL, -- the process that has the browser
    held_until    INTEGER NOT NULL,
    reservation   BLOB    NOT NULL, -- of credits
    stream        INTEGER NOT NULL, -- whether it may be watched
    prompted      INTEGER NOT NULL, -- whether a prompt was used, which costs more
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL, -- when it ends at the latest
    last_activity INTEGER NOT NULL,
    ended_at      INTEGER,
    end_reason    TEXT,
    credits       INTEGER NOT NULL,
    delete_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX browser_sessions_team ON browser_sessions (team_id, created_at);
CREATE INDEX browser_sessions_open ON browser_sessions (held_until) WHERE ended_at IS NULL;
CREATE INDEX browser_sessions_scrape ON browser_sessions (scrape_id) WHERE scrape_id IS NOT NULL;
CREATE INDEX browser_sessions_expiry ON browser_sessions (delete_at);

-- How a scrape was asked for, where a session needs more than its URL to open the page again. Encrypted: it may hold
-- texts that were typed.
CREATE TABLE scrape_requests (
    scrape_id  BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    request    TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX scrape_requests_expiry ON scrape_requests (expires_at);
