-- The ledger of crawls and batches, and how hosts want to be asked.
-- Crawls: kind 0 crawl, 1 batch; state 0 active, 1 completed, 2 failed, 3 cancelled.
-- Entries: 0 queued, 1 running, 2 fetched, 3 completed, 4 failed, 5 skipped. What is open (0 to 2) in a crawl that
-- has ended stays so in its row and reads as the crawl's end says.

CREATE TABLE crawls (
    id             BLOB    NOT NULL PRIMARY KEY,
    team_id        BLOB    NOT NULL REFERENCES teams (id),
    key_id         BLOB,
    kind           INTEGER NOT NULL,
    state          INTEGER NOT NULL,
    private        INTEGER NOT NULL,
    most_documents INTEGER,
    max_running    INTEGER,
    gap            INTEGER,
    run_for        INTEGER NOT NULL, -- until the deadline, counted anew when a batch is appended to
    retain_for     INTEGER NOT NULL,
    reservation    BLOB,
    -- Pages, by how they stand.
    discovered     INTEGER NOT NULL,
    queued         INTEGER NOT NULL,
    running        INTEGER NOT NULL DEFAULT 0,
    fetched        INTEGER NOT NULL DEFAULT 0,
    completed      INTEGER NOT NULL DEFAULT 0,
    failed         INTEGER NOT NULL DEFAULT 0,
    skipped        INTEGER NOT NULL,
    cancelled      INTEGER NOT NULL DEFAULT 0,
    -- The site's own lists, which no other counter counts.
    lists_queued   INTEGER NOT NULL,
    lists_running  INTEGER NOT NULL DEFAULT 0,
    lists_fetched  INTEGER NOT NULL DEFAULT 0,
    last_seq       INTEGER NOT NULL, -- the number given last
    version        INTEGER NOT NULL DEFAULT 0,
    bytes          INTEGER NOT NULL DEFAULT 0,
    credits        INTEGER NOT NULL DEFAULT 0,
    not_before     INTEGER NOT NULL, -- the crawl's own gap
    next_at        INTEGER NOT NULL, -- a claim before this would find nothing; never before not_before
    look_from      INTEGER NOT NULL DEFAULT 0, -- where claims go on looking behind a long row of entries that must wait
    created_at     INTEGER NOT NULL,
    deadline_at    INTEGER NOT NULL,
    finished_at    INTEGER,
    expires_at     INTEGER,
    error          TEXT,
    -- How many entries its own limits let start now.
    startable      INTEGER NOT NULL GENERATED ALWAYS AS (
        CASE WHEN state = 0 THEN max(0, min(
            coalesce(max_running, 1000000) - running - lists_running,
            lists_queued
                + max(0, min(queued, coalesce(most_documents, 1000000000000) - completed - running - fetched))
        )) ELSE 0 END
    ) VIRTUAL
) STRICT;
CREATE INDEX crawls_startable ON crawls (next_at) WHERE startable > 0;
CREATE INDEX crawls_live ON crawls (team_id, kind, id) WHERE state = 0;
CREATE INDEX crawls_running ON crawls (team_id) WHERE state = 0 AND running + lists_running > 0;
CREATE INDEX crawls_unsettled ON crawls (id) WHERE state = 0 AND fetched + lists_fetched > 0;
CREATE INDEX crawls_deadlines ON crawls (deadline_at) WHERE state = 0;
CREATE INDEX crawls_expiry ON crawls (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX crawls_successes ON crawls (team_id, finished_at) WHERE state = 1;
CREATE INDEX crawls_reservations ON crawls (reservation) WHERE reservation IS NOT NULL;

-- What a crawl carries along, apart from the counters, so that counting does not write it again.
CREATE TABLE crawl_luggage (
    crawl_id BLOB NOT NULL PRIMARY KEY,
    request  TEXT NOT NULL,
    memory   BLOB
) STRICT;

CREATE TABLE entries (
    crawl_id       BLOB    NOT NULL,
    seq            INTEGER NOT NULL,
    key            BLOB    NOT NULL,
    state          INTEGER NOT NULL,
    is_lists       INTEGER NOT NULL,
    depth          INTEGER NOT NULL,
    attempts       INTEGER NOT NULL DEFAULT 0,
    lease_number   INTEGER NOT NULL DEFAULT 0, -- counts every claim and never goes back: the fence
    lease_owner    BLOB,
    lease_until    INTEGER,
    run_at         INTEGER NOT NULL,
    changed_at     INTEGER NOT NULL, -- when it came to its state
    number         INTEGER,          -- of its document, when completed
    document_bytes INTEGER,
    url            TEXT    NOT NULL,
    host           TEXT    NOT NULL,
    reason         TEXT,
    PRIMARY KEY (crawl_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entries_keys ON entries (crawl_id, key);
CREATE INDEX entries_states ON entries (crawl_id, state, seq);
CREATE INDEX entries_leases ON entries (lease_until) WHERE state = 1 AND lease_until IS NOT NULL;
CREATE UNIQUE INDEX entries_numbers ON entries (crawl_id, number) WHERE number IS NOT NULL;

-- What attempts brought, until it is settled.
CREATE TABLE outcomes (
    crawl_id BLOB    NOT NULL,
    seq      INTEGER NOT NULL,
    body     BLOB    NOT NULL,
    UNIQUE (crawl_id, seq)
) STRICT;

-- Documents are written once, with the attempt that brought them; a settlement gives their entries a number.
CREATE TABLE documents (
    crawl_id BLOB    NOT NULL,
    seq      INTEGER NOT NULL,
    body     BLOB    NOT NULL,
    UNIQUE (crawl_id, seq)
) STRICT;

CREATE TABLE host_paces (
    host         TEXT    NOT NULL PRIMARY KEY,
    gap          INTEGER NOT NULL,
    started_at   INTEGER NOT NULL DEFAULT 0, -- the last start of an entry, while there is a gap
    paused_until INTEGER NOT NULL,
    set_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX host_paces_age ON host_paces (set_at);
