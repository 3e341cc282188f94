-- Runs of agents, what they told, and the threads they are turns of.
-- Runs: kind 0 agent, 1 extract; state 0 queued, 1 running, 2 succeeded, 3 failed, 4 cancelled, 5 refused,
-- 6 credit limit reached.

CREATE TABLE agent_threads (
    id         UUID   NOT NULL PRIMARY KEY,
    team_id    UUID   NOT NULL REFERENCES teams (id),
    turns      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX agent_threads_age ON agent_threads (updated_at);

CREATE TABLE agent_runs (
    id                  UUID   NOT NULL PRIMARY KEY,
    team_id             UUID   NOT NULL REFERENCES teams (id),
    key_id              UUID,
    kind                BIGINT NOT NULL,
    generation          TEXT   NOT NULL,
    state               BIGINT NOT NULL DEFAULT 0,
    thread_id           UUID,
    turn                BIGINT NOT NULL,
    reservation         UUID,
    max_credits         BIGINT NOT NULL,
    credits             BIGINT NOT NULL DEFAULT 0,
    lost                BIGINT NOT NULL DEFAULT 0,
    lease_number        BIGINT NOT NULL DEFAULT 0, -- counts every claim and never goes back: the fence
    lease_owner         UUID,
    lease_until         BIGINT,
    cancel_requested_at BIGINT,
    run_for             BIGINT NOT NULL,
    retain_for          BIGINT NOT NULL,
    events              BIGINT NOT NULL DEFAULT 0,
    event_bytes         BIGINT NOT NULL DEFAULT 0,
    snapshot_bytes      BIGINT NOT NULL DEFAULT 0,
    created_at          BIGINT NOT NULL,
    wait_until          BIGINT NOT NULL, -- for the first claim
    deadline_at         BIGINT,          -- from the first claim on
    finished_at         BIGINT,
    expires_at          BIGINT,
    target              TEXT   NOT NULL,
    error               TEXT
);
CREATE UNIQUE INDEX agent_runs_list ON agent_runs (team_id, created_at);
CREATE INDEX agent_runs_waiting ON agent_runs (team_id, id) WHERE state = 0;
CREATE INDEX agent_runs_running ON agent_runs (team_id) WHERE state = 1;
CREATE INDEX agent_runs_successes ON agent_runs (team_id, finished_at) WHERE state = 2;
CREATE INDEX agent_runs_leases ON agent_runs (lease_until) WHERE state = 1;
CREATE INDEX agent_runs_threads ON agent_runs (thread_id, turn) WHERE thread_id IS NOT NULL;
CREATE INDEX agent_runs_reservations ON agent_runs (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX agent_runs_expiry ON agent_runs (expires_at) WHERE expires_at IS NOT NULL;

-- What a run carries along, apart from what changes with every step.
CREATE TABLE agent_luggage (
    run_id   UUID  NOT NULL PRIMARY KEY,
    request  TEXT  NOT NULL,
    artifact BYTEA, -- compressed by its owner, like the result
    result   BYTEA
);

CREATE TABLE agent_events (
    run_id     UUID   NOT NULL,
    number     BIGINT NOT NULL,
    id         UUID   NOT NULL,
    actor      UUID   NOT NULL,
    sequence   BIGINT NOT NULL, -- among all that the actor told
    written_at BIGINT NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (run_id, number)
);
CREATE UNIQUE INDEX agent_events_ids ON agent_events (run_id, id);
CREATE UNIQUE INDEX agent_events_actors ON agent_events (run_id, actor, sequence);

CREATE TABLE agent_snapshots (
    run_id UUID  NOT NULL,
    id     UUID  NOT NULL,
    body   BYTEA NOT NULL,
    PRIMARY KEY (run_id, id)
);

-- Bytes come compressed: the server must not try it again. A run's row changes with every step.
ALTER TABLE agent_luggage ALTER COLUMN artifact SET STORAGE EXTERNAL;
ALTER TABLE agent_luggage ALTER COLUMN result SET STORAGE EXTERNAL;
ALTER TABLE agent_snapshots ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE agent_runs SET (fillfactor = 60);

-- A run as it is read, and only while it has its luggage: what is being deleted is not there any more.
CREATE VIEW agent_runs_whole AS
SELECT r.id, r.team_id, r.key_id, r.kind, r.generation, r.state, r.thread_id, r.turn, r.max_credits, r.credits, r.lost,
       r.cancel_requested_at, r.error, r.events, r.event_bytes, r.snapshot_bytes, r.created_at, r.wait_until,
       r.deadline_at, r.finished_at, r.expires_at, r.target, l.request
FROM agent_runs r
JOIN agent_luggage l ON l.run_id = r.id;
