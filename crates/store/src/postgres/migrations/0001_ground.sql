-- The ground: teams and keys, the job queue, limits, credits, activity, and the index of objects.
-- Times are milliseconds since 1970.

-- The database's own clock. Stable within a statement, so that an index can be searched with it.
CREATE FUNCTION gannet_now() RETURNS BIGINT LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT floor(extract(epoch FROM statement_timestamp()) * 1000)::BIGINT $$;

CREATE TABLE teams (
    id                  UUID    NOT NULL PRIMARY KEY,
    name                TEXT    NOT NULL,
    plan                TEXT    NOT NULL,
    zero_data_retention BOOLEAN NOT NULL,
    created_at          BIGINT  NOT NULL
);

CREATE TABLE api_keys (
    id           UUID    NOT NULL PRIMARY KEY,
    team_id      UUID    NOT NULL REFERENCES teams (id),
    name         TEXT    NOT NULL,
    hint         TEXT    NOT NULL,
    hash         BYTEA   NOT NULL UNIQUE,
    scopes       TEXT    NOT NULL, -- JSON list of names
    created_at   BIGINT  NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
CREATE INDEX api_keys_of_team ON api_keys (team_id, created_at, id);

-- States: 0 queued, 1 running, 2 waiting, 3 completed, 4 failed, 5 cancelled.
CREATE TABLE jobs (
    id                 UUID    NOT NULL PRIMARY KEY,
    team_id            UUID    NOT NULL REFERENCES teams (id),
    parent_id          UUID    REFERENCES jobs (id) ON DELETE CASCADE,
    kind               TEXT COLLATE "C" NOT NULL,
    payload            TEXT    NOT NULL,
    state              BIGINT  NOT NULL,
    rank               BIGINT  NOT NULL, -- the negated priority: one ascending index gives the order
    attempts           BIGINT  NOT NULL DEFAULT 0,
    max_attempts       BIGINT  NOT NULL,
    lease_number       BIGINT  NOT NULL DEFAULT 0, -- counts every claim and never goes back: the fence
    lease_owner        UUID,
    lease_until        BIGINT,
    cancel_requested   BOOLEAN NOT NULL DEFAULT FALSE,
    reservation        UUID,
    dedup_key          TEXT COLLATE "C",
    retain_for         BIGINT  NOT NULL,
    result             TEXT,
    error              TEXT,
    row_count          BIGINT  NOT NULL DEFAULT 0,
    children_total     BIGINT  NOT NULL DEFAULT 0,
    children_completed BIGINT  NOT NULL DEFAULT 0,
    children_failed    BIGINT  NOT NULL DEFAULT 0,
    children_cancelled BIGINT  NOT NULL DEFAULT 0,
    children_open      BIGINT  NOT NULL GENERATED ALWAYS AS
        (children_total - children_completed - children_failed - children_cancelled) STORED,
    created_at         BIGINT  NOT NULL,
    run_at             BIGINT  NOT NULL,
    deadline_at        BIGINT  NOT NULL,
    started_at         BIGINT,
    finished_at        BIGINT,
    expires_at         BIGINT
);
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

-- A queue turns over its rows quickly; dead ones must not wait for a fifth of the table to change.
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

CREATE TABLE job_rows (
    owner_id   UUID    NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq        BIGINT  NOT NULL,
    job_id     UUID    NOT NULL, -- the job that wrote the row: the owner itself or one of its children
    body       TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    PRIMARY KEY (owner_id, seq)
);

CREATE TABLE rate_windows (
    team_id    UUID    NOT NULL,
    rate_group TEXT COLLATE "C" NOT NULL,
    ends_at    BIGINT  NOT NULL,
    taken      BIGINT  NOT NULL,
    granted    BIGINT  NOT NULL, -- by the last request, so that one statement can take and tell
    PRIMARY KEY (team_id, rate_group)
);
CREATE INDEX rate_windows_end ON rate_windows (ends_at);

CREATE TABLE slots (
    id          UUID    NOT NULL PRIMARY KEY,
    team_id     UUID    NOT NULL,
    lease_until BIGINT  NOT NULL
);
CREATE INDEX slots_of_team ON slots (team_id, lease_until);
CREATE INDEX slots_end ON slots (lease_until);

CREATE TABLE credit_periods (
    team_id      UUID    NOT NULL,
    period_start BIGINT  NOT NULL,
    used         BIGINT  NOT NULL DEFAULT 0 CHECK (used >= 0),
    reserved     BIGINT  NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    tokens       BIGINT  NOT NULL DEFAULT 0 CHECK (tokens >= 0),
    PRIMARY KEY (team_id, period_start)
);

-- Only open reservations: closing one deletes it, what it was used for is in credit_usage.
CREATE TABLE reservations (
    id           UUID    NOT NULL PRIMARY KEY,
    team_id      UUID    NOT NULL,
    key_id       UUID,
    period_start BIGINT  NOT NULL,
    purpose      TEXT    NOT NULL,
    remaining    BIGINT  NOT NULL CHECK (remaining >= 0),
    hold_until   BIGINT  NOT NULL
);
CREATE INDEX reservations_end ON reservations (hold_until);

CREATE TABLE credit_usage (
    team_id      UUID    NOT NULL,
    period_start BIGINT  NOT NULL,
    key_id       UUID    NOT NULL, -- all zeros: work without a key
    purpose      TEXT    NOT NULL,
    credits      BIGINT  NOT NULL DEFAULT 0,
    tokens       BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (team_id, period_start, key_id, purpose)
);

CREATE TABLE activity (
    id         UUID    NOT NULL PRIMARY KEY,
    team_id    UUID    NOT NULL,
    key_id     UUID,
    endpoint   TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    created_at BIGINT  NOT NULL
);
CREATE INDEX activity_of_team ON activity (team_id, id);
CREATE INDEX activity_age ON activity (created_at);

CREATE TABLE objects (
    key        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id    UUID    NOT NULL,
    bytes      BIGINT  NOT NULL,
    created_at BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL
);
CREATE INDEX objects_expiry ON objects (expires_at, key);

CREATE TABLE object_totals (
    team_id UUID    NOT NULL PRIMARY KEY,
    bytes   BIGINT  NOT NULL
);
