-- Webhooks on their way, and the secrets they are signed with.
-- The bytes stand last in their rows: whoever reads the columns before them does not read them too.

-- Row numbers grow, so their order is the order of writing.
CREATE TABLE deliveries (
    number      INTEGER NOT NULL PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE,
    team_id     BLOB    NOT NULL,
    subject     BLOB    NOT NULL,
    leases      INTEGER NOT NULL, -- how often it was handed out: the fence, never goes back
    attempts    INTEGER NOT NULL,
    due_at      INTEGER NOT NULL, -- not before then
    document    INTEGER,
    created_at  INTEGER NOT NULL,
    queued_at   INTEGER NOT NULL,
    given_up_at INTEGER,
    expires_at  INTEGER,          -- of what was given up
    event       TEXT    NOT NULL,
    last_error  TEXT,
    target      TEXT    NOT NULL,
    body        BLOB    NOT NULL
) STRICT;
CREATE INDEX deliveries_open ON deliveries (subject, number) WHERE given_up_at IS NULL;
CREATE INDEX deliveries_dead ON deliveries (team_id, id) WHERE given_up_at IS NOT NULL;
CREATE INDEX deliveries_expiry ON deliveries (expires_at) WHERE given_up_at IS NOT NULL;

-- One row for each subject that has something open. Only its first delivery is ever handed out, so a claim
-- looks here and is not slowed down by what waits behind.
CREATE TABLE delivery_subjects (
    subject BLOB    NOT NULL PRIMARY KEY,
    due_at  INTEGER NOT NULL, -- when its first delivery is due, or when the lease on it ends
    held    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_subjects_due ON delivery_subjects (due_at);

CREATE TABLE webhook_secrets (
    team_id    BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER,          -- none for the current one
    secret     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX webhook_secrets_current ON webhook_secrets (team_id) WHERE until IS NULL;
CREATE INDEX webhook_secrets_team ON webhook_secrets (team_id);
CREATE INDEX webhook_secrets_expiry ON webhook_secrets (until) WHERE until IS NOT NULL;
