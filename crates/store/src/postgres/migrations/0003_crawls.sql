-- The ledger of crawls and batches, and how hosts want to be asked.
-- Crawls: kind 0 crawl, 1 batch; state 0 active, 1 completed, 2 failed, 3 cancelled.
-- Entries: 0 queued, 1 running, 2 fetched, 3 completed, 4 failed, 5 skipped. What is open (0 to 2) in a crawl that
-- has ended stays so in its row and reads as the crawl's end says.

CREATE TABLE crawls (
    id             UUID    NOT NULL PRIMARY KEY,
    team_id        UUID    NOT NULL REFERENCES teams (id),
    key_id         UUID,
    kind           BIGINT  NOT NULL,
    state          BIGINT  NOT NULL,
    private        BOOLEAN NOT NULL,
    most_documents BIGINT,
    max_running    BIGINT,
    gap            BIGINT,
    run_for        BIGINT  NOT NULL, -- until the deadline, counted anew when a batch is appended to
    retain_for     BIGINT  NOT NULL,
    reservation    UUID,
    -- Pages, by how they stand.
    discovered     BIGINT  NOT NULL DEFAULT 0,
    queued         BIGINT  NOT NULL DEFAULT 0 CHECK (queued >= 0),
    running        BIGINT  NOT NULL DEFAULT 0 CHECK (running >= 0),
    fetched        BIGINT  NOT NULL DEFAULT 0 CHECK (fetched >= 0),
    completed      BIGINT  NOT NULL DEFAULT 0,
    failed         BIGINT  NOT NULL DEFAULT 0,
    skipped        BIGINT  NOT NULL DEFAULT 0,
    cancelled      BIGINT  NOT NULL DEFAULT 0,
    -- The site's own lists, which no other counter counts.
    lists_queued   BIGINT  NOT NULL DEFAULT 0 CHECK (lists_queued >= 0),
    lists_running  BIGINT  NOT NULL DEFAULT 0 CHECK (lists_running >= 0),
    lists_fetched  BIGINT  NOT NULL DEFAULT 0 CHECK (lists_fetched >= 0),
    last_seq       BIGINT  NOT NULL DEFAULT 0, -- the number given last
    version        BIGINT  NOT NULL DEFAULT 0,
    bytes          BIGINT  NOT NULL DEFAULT 0,
    credits        BIGINT  NOT NULL DEFAULT 0,
    not_before     BIGINT  NOT NULL, -- the crawl's own gap
    next_at        BIGINT  NOT NULL, -- a claim before this would find nothing; never before not_before
    look_from      BIGINT  NOT NULL DEFAULT 0, -- where claims go on looking behind a long row of entries that must wait
    created_at     BIGINT  NOT NULL,
    deadline_at    BIGINT  NOT NULL,
    finished_at    BIGINT,
    expires_at     BIGINT,
    error          TEXT,
    -- How many entries its own limits let start now.
    startable      BIGINT  NOT NULL GENERATED ALWAYS AS (
        CASE WHEN state = 0 THEN greatest(0, least(
            coalesce(max_running, 1000000) - running - lists_running,
            lists_queued
                + greatest(0, least(queued, coalesce(most_documents, 1000000000000) - completed - running - fetched))
        )) ELSE 0 END
    ) STORED,
    -- The same as yes or no: it changes seldom, so most changes of counters touch no index.
    has_startable  BOOLEAN NOT NULL GENERATED ALWAYS AS (
        CASE WHEN state = 0 THEN least(
            coalesce(max_running, 1000000) - running - lists_running,
            lists_queued
                + greatest(0, least(queued, coalesce(most_documents, 1000000000000) - completed - running - fetched))
        ) > 0 ELSE FALSE END
    ) STORED
);
CREATE INDEX crawls_startable ON crawls (next_at) WHERE has_startable;
CREATE INDEX crawls_live ON crawls (team_id, kind, id) WHERE state = 0;
CREATE INDEX crawls_deadlines ON crawls (deadline_at) WHERE state = 0;
CREATE INDEX crawls_expiry ON crawls (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX crawls_successes ON crawls (team_id, finished_at) WHERE state = 1;
CREATE INDEX crawls_reservations ON crawls (reservation) WHERE reservation IS NOT NULL;
-- A live crawl's row changes many times a second: room beside it, so that its versions stay on their page.
ALTER TABLE crawls SET (
    fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05
);

-- What a crawl carries along, apart from the counters, so that counting does not write it again.
CREATE TABLE crawl_luggage (
    crawl_id UUID  NOT NULL PRIMARY KEY,
    request  TEXT  NOT NULL,
    memory   BYTEA -- compressed by its owner, where that helps
);
ALTER TABLE crawl_luggage ALTER COLUMN memory SET STORAGE EXTERNAL;
ALTER TABLE crawl_luggage SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02
);

CREATE TABLE entries (
    crawl_id       UUID    NOT NULL,
    seq            BIGINT  NOT NULL,
    key            BYTEA   NOT NULL,
    state          BIGINT  NOT NULL,
    is_lists       BOOLEAN NOT NULL,
    depth          BIGINT  NOT NULL,
    attempts       BIGINT  NOT NULL DEFAULT 0,
    lease_number   BIGINT  NOT NULL DEFAULT 0, -- counts every claim and never goes back: the fence
    lease_owner    UUID,
    lease_until    BIGINT,
    run_at         BIGINT  NOT NULL,
    changed_at     BIGINT  NOT NULL, -- when it came to its state
    number         BIGINT,           -- of its document, when completed
    document_bytes BIGINT,
    url            TEXT    NOT NULL,
    host           TEXT COLLATE "C" NOT NULL,
    reason         TEXT,
    PRIMARY KEY (crawl_id, seq)
);
CREATE UNIQUE INDEX entries_keys ON entries (crawl_id, key);
CREATE INDEX entries_states ON entries (crawl_id, state, seq);
CREATE INDEX entries_leases ON entries (lease_until) WHERE state = 1 AND lease_until IS NOT NULL;
CREATE UNIQUE INDEX entries_numbers ON entries (crawl_id, number) WHERE number IS NOT NULL;
-- Every entry changes some three times and then never again.
ALTER TABLE entries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

-- What attempts brought, until it is settled. Bytes come compressed: the server must not try it again.
CREATE TABLE outcomes (
    crawl_id UUID   NOT NULL,
    seq      BIGINT NOT NULL,
    body     BYTEA  NOT NULL,
    PRIMARY KEY (crawl_id, seq)
);
ALTER TABLE outcomes ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE outcomes SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
);

-- Documents are written once, with the attempt that brought them; a settlement gives their entries a number.
CREATE TABLE documents (
    crawl_id UUID   NOT NULL,
    seq      BIGINT NOT NULL,
    body     BYTEA  NOT NULL,
    PRIMARY KEY (crawl_id, seq)
);
ALTER TABLE documents ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE host_paces (
    host         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    gap          BIGINT NOT NULL,
    started_at   BIGINT NOT NULL DEFAULT 0, -- the last start of an entry, while there is a gap
    paused_until BIGINT NOT NULL,
    set_at       BIGINT NOT NULL
);
CREATE INDEX host_paces_age ON host_paces (set_at);
ALTER TABLE host_paces SET (fillfactor = 70);
