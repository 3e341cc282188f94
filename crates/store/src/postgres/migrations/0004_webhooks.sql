-- Webhooks on their way, and the secrets they are signed with.

CREATE TABLE deliveries (
    number      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of writing
    id          UUID   NOT NULL UNIQUE,
    team_id     UUID   NOT NULL,
    subject     UUID   NOT NULL,
    leases      BIGINT NOT NULL, -- how often it was handed out: the fence, never goes back
    attempts    BIGINT NOT NULL,
    due_at      BIGINT NOT NULL, -- not before then
    document    BIGINT,
    created_at  BIGINT NOT NULL,
    queued_at   BIGINT NOT NULL,
    given_up_at BIGINT,
    expires_at  BIGINT,          -- of what was given up
    event       TEXT   NOT NULL,
    last_error  TEXT,
    target      TEXT   NOT NULL,
    body        BYTEA  NOT NULL
);
ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX deliveries_open ON deliveries (subject, number) WHERE given_up_at IS NULL;
CREATE INDEX deliveries_dead ON deliveries (team_id, id) WHERE given_up_at IS NOT NULL;
CREATE INDEX deliveries_expiry ON deliveries (expires_at) WHERE given_up_at IS NOT NULL;

-- One row for each subject that has something open. Only its first delivery is ever handed out, so a claim
-- looks here and is not slowed down by what waits behind. Who writes a delivery holds the row of its subject
-- until the end of the transaction: so the numbers of a subject are committed in their order.
CREATE TABLE delivery_subjects (
    subject UUID    NOT NULL PRIMARY KEY,
    due_at  BIGINT  NOT NULL, -- when its first delivery is due, or when the lease on it ends
    held    BOOLEAN NOT NULL
);
ALTER TABLE delivery_subjects SET (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000
);
CREATE INDEX delivery_subjects_due ON delivery_subjects (due_at);

CREATE TABLE webhook_secrets (
    team_id    UUID   NOT NULL,
    created_at BIGINT NOT NULL,
    until      BIGINT,          -- none for the current one
    secret     TEXT   NOT NULL
);
CREATE UNIQUE INDEX webhook_secrets_current ON webhook_secrets (team_id) WHERE until IS NULL;
CREATE INDEX webhook_secrets_team ON webhook_secrets (team_id);
CREATE INDEX webhook_secrets_expiry ON webhook_secrets (until) WHERE until IS NOT NULL;
