-- Monitors: what is checked and when, the checks with their pages, and what later checks compare with.
-- Large values stand last in their rows: whoever reads the columns before them does not read them too.

CREATE TABLE monitors (
    id            BLOB    NOT NULL PRIMARY KEY,
    team_id       BLOB    NOT NULL,
    key_id        BLOB,
    state         INTEGER NOT NULL, -- 0 active, 1 paused, 2 deleted
    version       INTEGER NOT NULL, -- counts changes of the request
    retain_for    INTEGER NOT NULL, -- how long checks are kept
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    next_run_at   INTEGER,          -- none while it is not active
    last_run_at   INTEGER,
    current_check BLOB,             -- the check that waits or runs
    last_check    BLOB,             -- the last one that ended, which is kept
    last_summary  TEXT,
    request       TEXT    NOT NULL  -- encrypted: it may hold headers and logins
) STRICT, WITHOUT ROWID;
CREATE INDEX monitors_team ON monitors (team_id, id) WHERE state < 2;
CREATE INDEX monitors_due ON monitors (next_run_at) WHERE state = 0;
CREATE INDEX monitors_deleted ON monitors (id) WHERE state = 2;

CREATE TABLE monitor_checks (
    id                BLOB    NOT NULL PRIMARY KEY,
    monitor_id        BLOB    NOT NULL,
    team_id           BLOB    NOT NULL,
    state             INTEGER NOT NULL, -- 0 queued, 1 running, 2 completed, 3 failed, 4 partial, 5 skipped for overlap, 6 for credits
    cause             INTEGER NOT NULL, -- 0 the schedule, 1 a request
    scheduled_for     INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    started_at        INTEGER,
    finished_at       INTEGER,
    expires_at        INTEGER,
    lease_owner       BLOB,
    lease_number      INTEGER NOT NULL, -- counts every claim: the fence, never goes back
    lease_until       INTEGER,
    lost_leases       INTEGER NOT NULL,
    estimated_credits INTEGER NOT NULL,
    credits           INTEGER NOT NULL,
    result            TEXT              -- what it came to, as JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX monitor_checks_monitor ON monitor_checks (monitor_id, id);
CREATE INDEX monitor_checks_waiting ON monitor_checks (scheduled_for) WHERE state = 0;
CREATE INDEX monitor_checks_leases ON monitor_checks (lease_until) WHERE state = 1;
CREATE INDEX monitor_checks_expiry ON monitor_checks (expires_at) WHERE expires_at IS NOT NULL;

-- A page is in a check once, so a check that is taken up again writes and tells nothing twice.
CREATE TABLE monitor_pages (
    check_id   BLOB    NOT NULL,
    key        BLOB    NOT NULL, -- target and address
    id         BLOB    NOT NULL,
    status     INTEGER NOT NULL, -- 0 same, 1 new, 2 changed, 3 removed, 4 error
    credits    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    body       BLOB    NOT NULL,
    PRIMARY KEY (check_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX monitor_pages_order ON monitor_pages (check_id, id);

CREATE TABLE monitor_snapshots (
    monitor_id BLOB    NOT NULL,
    key        BLOB    NOT NULL,
    target_id  BLOB    NOT NULL,
    taken_at   INTEGER NOT NULL,
    url        TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    PRIMARY KEY (monitor_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE monitor_recipients (
    monitor_id BLOB    NOT NULL,
    email      TEXT    NOT NULL,
    status     INTEGER NOT NULL, -- 0 pending, 1 confirmed, 2 unsubscribed
    source     INTEGER NOT NULL, -- 0 of the team, 1 confirmed by themselves
    token_hash BLOB    NOT NULL, -- of the token in the links of its mails
    PRIMARY KEY (monitor_id, email)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX monitor_recipients_token ON monitor_recipients (token_hash);
