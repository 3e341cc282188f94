-- The ground: teams and keys, the job queue, limits, credits, activity, and the index of objects.
-- Ids are 16-byte blobs, times are milliseconds since 1970, flags are 0 or 1.

CREATE TABLE teams (
    id                  BLOB    NOT NULL PRIMARY KEY,
    name                TEXT    NOT NULL,
    plan                TEXT    NOT NULL,
    zero_data_retention INTEGER NOT NULL,
    created_at          INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id           BLOB    NOT NULL PRIMARY KEY,
    team_id      BLOB    NOT NULL REFERENCES teams (id),
    name         TEXT    NOT NULL,
    hint         TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    scopes       TEXT    NOT NULL, -- JSON list of names
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;
CREATE INDEX api_keys_of_team ON api_keys (team_id, created_at, id);

-- States: 0 queued, 1 running, 2 waiting, 3 completed, 4 failed, 5 cancelled.
CREATE TABLE jobs (
    id                 BLOB    NOT NULL PRIMARY KEY,
    team_id            BLOB    NOT NULL REFERENCES teams (id),
    parent_id          BLOB    REFERENCES jobs (id) ON DELETE CASCADE,
    kind               TEXT    NOT NULL,
    payload            TEXT    NOT NULL,
    state              INTEGER NOT NULL,
    rank               INTEGER NOT NULL, -- the negated priority: one ascending index gives the order
    attempts           INTEGER NOT NULL DEFAULT 0,
    max_attempts       INTEGER NOT NULL,
    lease_number       INTEGER NOT NULL DEFAULT 0, -- counts every claim and never goes back: the fence
    lease_owner        BLOB,
    lease_until        INTEGER,
    cancel_requested   INTEGER NOT NULL DEFAULT 0,
    reservation        BLOB,
    dedup_key          TEXT,
    retain_for         INTEGER NOT NULL,
    result             TEXT,
    error              TEXT,
    row_count          INTEGER NOT NULL DEFAULT 0,
    children_total     INTEGER NOT NULL DEFAULT 0,
    children_completed INTEGER NOT NULL DEFAULT 0,
    children_failed    INTEGER NOT NULL DEFAULT 0,
    children_cancelled INTEGER NOT NULL DEFAULT 0,
    children_open      INTEGER NOT NULL GENERATED ALWAYS AS
        (children_total - children_completed - children_failed - children_cancelled) VIRTUAL,
    created_at         INTEGER NOT NULL,
    run_at             INTEGER NOT NULL,
    deadline_at        INTEGER NOT NULL,
    started_at         INTEGER,
    finished_at        INTEGER,
    expires_at         INTEGER
) STRICT;
-- A lane is (kind, rank, team): claims hop from lane to lane and look at the head of each.
CREATE INDEX jobs_lanes ON jobs (kind, rank, team_id, run_at, id) WHERE state = 0;
CREATE INDEX jobs_queued ON jobs (team_id) WHERE state = 0;
CREATE INDEX jobs_running ON jobs (kind, team_id) WHERE state = 1;
CREATE INDEX jobs_leases ON jobs (lease_until) WHERE state = 1;
CREATE INDEX jobs_deadlines ON jobs (deadline_at) WHERE state <= 2;
CREATE INDEX jobs_children ON jobs (parent_id, state, id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX jobs_dedup_child ON jobs (parent_id, dedup_key) WHERE parent_id IS NOT NULL AND dedup_key IS NOT NULL;
CREATE UNIQUE INDEX jobs_dedup_top ON jobs (team_id, kind, dedup_key) WHERE parent_id IS NULL AND dedup_key IS NOT NULL;
CREATE INDEX jobs_recent ON jobs (team_id, kind, created_at, id) WHERE parent_id IS NULL;
CREATE INDEX jobs_expiry ON jobs (expires_at) WHERE parent_id IS NULL AND expires_at IS NOT NULL;
CREATE INDEX jobs_successes ON jobs (team_id, finished_at) WHERE state = 3;
CREATE INDEX jobs_reservations ON jobs (reservation) WHERE reservation IS NOT NULL;

CREATE TABLE job_rows (
    owner_id   BLOB    NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    job_id     BLOB    NOT NULL, -- the job that wrote the row: the owner itself or one of its children
    body       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner_id, seq)
) STRICT;

CREATE TABLE rate_windows (
    team_id    BLOB    NOT NULL,
    rate_group TEXT    NOT NULL,
    ends_at    INTEGER NOT NULL,
    taken      INTEGER NOT NULL,
    granted    INTEGER NOT NULL, -- by the last request, so that one statement can take and tell
    PRIMARY KEY (team_id, rate_group)
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_windows_end ON rate_windows (ends_at);

CREATE TABLE slots (
    id          BLOB    NOT NULL PRIMARY KEY,
    team_id     BLOB    NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX slots_of_team ON slots (team_id, lease_until);
CREATE INDEX slots_end ON slots (lease_until);

CREATE TABLE credit_periods (
    team_id      BLOB    NOT NULL,
    period_start INTEGER NOT NULL,
    used         INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
    reserved     INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    tokens       INTEGER NOT NULL DEFAULT 0 CHECK (tokens >= 0),
    PRIMARY KEY (team_id, period_start)
) STRICT, WITHOUT ROWID;

-- Only open reservations: closing one deletes it, what it was used for is in credit_usage.
CREATE TABLE reservations (
    id           BLOB    NOT NULL PRIMARY KEY,
    team_id      BLOB    NOT NULL,
    key_id       BLOB,
    period_start INTEGER NOT NULL,
    purpose      TEXT    NOT NULL,
    remaining    INTEGER NOT NULL CHECK (remaining >= 0),
    hold_until   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reservations_end ON reservations (hold_until);

CREATE TABLE credit_usage (
    team_id      BLOB    NOT NULL,
    period_start INTEGER NOT NULL,
    key_id       BLOB    NOT NULL, -- all zeros: work without a key
    purpose      TEXT    NOT NULL,
    credits      INTEGER NOT NULL DEFAULT 0,
    tokens       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (team_id, period_start, key_id, purpose)
) STRICT, WITHOUT ROWID;

CREATE TABLE activity (
    id         BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    key_id     BLOB,
    endpoint   TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX activity_of_team ON activity (team_id, id);
CREATE INDEX activity_age ON activity (created_at);

CREATE TABLE objects (
    key        TEXT    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    bytes      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_expiry ON objects (expires_at, key);

CREATE TABLE object_totals (
    team_id BLOB    NOT NULL PRIMARY KEY,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Written by a ping, so that a full or read-only disk is found before a job is.
CREATE TABLE pulse (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    at  INTEGER NOT NULL
) STRICT;
INSERT INTO pulse (one, at) VALUES (1, 0);
