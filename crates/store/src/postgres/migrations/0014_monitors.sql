-- Monitors: what is checked and when, the checks with their pages, and what later checks compare with.
-- Large values stand last in their rows: whoever reads the columns before them does not read them too.

CREATE TABLE monitors (
    id                UUID   NOT NULL PRIMARY KEY,
    team_id           UUID   NOT NULL,
    key_id            UUID,
    state             BIGINT NOT NULL, -- 0 active, 1 paused, 2 deleted
    version           BIGINT NOT NULL, -- counts changes of the request
    retain_for        BIGINT NOT NULL, -- how long checks are kept
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    next_run_at       BIGINT,          -- none while it is not active
    last_run_at       BIGINT,
    current_check     UUID,               -- the check that waits or runs
    last_check        UUID,               -- the last one that ended, which is kept
    last_summary      TEXT,
    request           TEXT   NOT NULL  -- encrypted: it may hold headers and logins
);
CREATE INDEX monitors_team ON monitors (team_id, id) WHERE state < 2;
CREATE INDEX monitors_due ON monitors (next_run_at) WHERE state = 0;
CREATE INDEX monitors_deleted ON monitors (id) WHERE state = 2;

CREATE TABLE monitor_checks (
    id                UUID   NOT NULL PRIMARY KEY,
    monitor_id        UUID   NOT NULL,
    team_id           UUID   NOT NULL,
    state             BIGINT NOT NULL, -- 0 queued, 1 running, 2 completed, 3 failed, 4 partial, 5 skipped for overlap, 6 for credits
    cause             BIGINT NOT NULL, -- 0 the schedule, 1 a request
    scheduled_for     BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    started_at        BIGINT,
    finished_at       BIGINT,
    expires_at        BIGINT,
    lease_owner       UUID,
    lease_number      BIGINT NOT NULL, -- counts every claim: the fence, never goes back
    lease_until       BIGINT,
    lost_leases       BIGINT NOT NULL,
    estimated_credits BIGINT NOT NULL,
    credits           BIGINT NOT NULL,
    result            TEXT   -- what it came to, as JSON
);
CREATE INDEX monitor_checks_monitor ON monitor_checks (monitor_id, id);
CREATE INDEX monitor_checks_waiting ON monitor_checks (scheduled_for) WHERE state = 0;
CREATE INDEX monitor_checks_leases ON monitor_checks (lease_until) WHERE state = 1;
CREATE INDEX monitor_checks_expiry ON monitor_checks (expires_at) WHERE expires_at IS NOT NULL;

-- A page is in a check once, so a check that is taken up again writes and tells nothing twice.
CREATE TABLE monitor_pages (
    check_id          UUID   NOT NULL,
    key               BYTEA  NOT NULL, -- target and address
    id                UUID   NOT NULL,
    status            BIGINT NOT NULL, -- 0 same, 1 new, 2 changed, 3 removed, 4 error
    credits           BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    body              BYTEA  NOT NULL,
    PRIMARY KEY (check_id, key)
);
CREATE INDEX monitor_pages_order ON monitor_pages (check_id, id);

CREATE TABLE monitor_snapshots (
    monitor_id        UUID   NOT NULL,
    key               BYTEA  NOT NULL,
    target_id         UUID   NOT NULL,
    taken_at          BIGINT NOT NULL,
    url               TEXT   NOT NULL,
    body              BYTEA  NOT NULL,
    PRIMARY KEY (monitor_id, key)
);

CREATE TABLE monitor_recipients (
    monitor_id        UUID   NOT NULL,
    email             TEXT   NOT NULL,
    status            BIGINT NOT NULL, -- 0 pending, 1 confirmed, 2 unsubscribed
    source            BIGINT NOT NULL, -- 0 of the team, 1 confirmed by themselves
    token_hash        BYTEA  NOT NULL, -- of the token in the links of its mails
    PRIMARY KEY (monitor_id, email)
);
CREATE UNIQUE INDEX monitor_recipients_token ON monitor_recipients (token_hash);
