-- Runs of agents, what they told, and the threads they are turns of.
-- Runs: kind 0 agent, 1 extract; state 0 queued, 1 running, 2 succeeded, 3 failed, 4 cancelled, 5 refused,
-- 6 credit limit reached.

CREATE TABLE agent_threads (
    id         BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL REFERENCES teams (id),
    turns      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_threads_age ON agent_threads (updated_at);

CREATE TABLE agent_runs (
    id                  BLOB    NOT NULL PRIMARY KEY,
    team_id             BLOB    NOT NULL REFERENCES teams (id),
    key_id              BLOB,
    kind                INTEGER NOT NULL,
    generation          TEXT    NOT NULL,
    state               INTEGER NOT NULL DEFAULT 0,
    thread_id           BLOB,
    turn                INTEGER NOT NULL,
    reservation         BLOB,
    max_credits         INTEGER NOT NULL,
    credits             INTEGER NOT NULL DEFAULT 0,
    lost                INTEGER NOT NULL DEFAULT 0,
    lease_number        INTEGER NOT NULL DEFAULT 0, -- counts every claim and never goes back: the fence
    lease_owner         BLOB,
    lease_until         INTEGER,
    cancel_requested_at INTEGER,
    run_for             INTEGER NOT NULL,
    retain_for          INTEGER NOT NULL,
    events              INTEGER NOT NULL DEFAULT 0,
    event_bytes         INTEGER NOT NULL DEFAULT 0,
    snapshot_bytes      INTEGER NOT NULL DEFAULT 0,
    created_at          INTEGER NOT NULL,
    wait_until          INTEGER NOT NULL, -- for the first claim
    deadline_at         INTEGER,          -- from the first claim on
    finished_at         INTEGER,
    expires_at          INTEGER,
    target              TEXT    NOT NULL,
    error               TEXT
) STRICT;
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
    run_id   BLOB NOT NULL PRIMARY KEY,
    request  TEXT NOT NULL,
    artifact BLOB, -- compressed by its owner, like the result
    result   BLOB
) STRICT;

CREATE TABLE agent_events (
    run_id     BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    actor      BLOB    NOT NULL,
    sequence   INTEGER NOT NULL, -- among all that the actor told
    written_at INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX agent_events_ids ON agent_events (run_id, id);
CREATE UNIQUE INDEX agent_events_actors ON agent_events (run_id, actor, sequence);

CREATE TABLE agent_snapshots (
    run_id BLOB NOT NULL,
    id     BLOB NOT NULL,
    body   BLOB NOT NULL,
    PRIMARY KEY (run_id, id)
) STRICT;

-- A run as it is read, and only while it has its luggage: what is being deleted is not there any more.
CREATE VIEW agent_runs_whole AS
SELECT r.id, r.team_id, r.key_id, r.kind, r.generation, r.state, r.thread_id, r.turn, r.max_credits, r.credits, r.lost,
       r.cancel_requested_at, r.error, r.events, r.event_bytes, r.snapshot_bytes, r.created_at, r.wait_until,
       r.deadline_at, r.finished_at, r.expires_at, r.target, l.request
FROM agent_runs r
JOIN agent_luggage l ON l.run_id = r.id;
