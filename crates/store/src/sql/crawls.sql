-- The ledger of crawls and batches: crawls, their entries, outcomes, documents and payloads, and the paces of hosts.

-- name: active
SELECT c.id, c.team_id, c.key_id, c.kind, c.state, c.private, c.max_documents, c.discovered, c.queued, c.running, c.fetched,
       c.completed, c.failed, c.skipped, c.cancelled, c.lists_queued, c.lists_running, c.lists_fetched, c.version,
       c.bytes, c.credits, c.error, c.created_at, c.finished_at, c.expires_at, c.deadline_at, p.request,
       gannet_now() AS now
FROM crawls c
JOIN crawl_payloads p ON p.crawl_id = c.id
WHERE c.team_id = $1 AND c.kind = $2 AND c.state = 0
ORDER BY c.id DESC
LIMIT $3

-- name: busy (sqlite)
-- Entries that teams have running.
SELECT team_id, sum(running + lists_running) AS busy
FROM crawls
WHERE state = 0 AND running + lists_running > 0
GROUP BY team_id

-- name: by_key (sqlite)
-- CROSS JOIN keeps the order: the few that are asked for first, not all entries of the crawl.
SELECT e.key, e.seq, e.state, e.reason, c.state AS crawl_state
FROM json_each($2) wanted
CROSS JOIN entries e ON e.crawl_id = $1 AND e.key = unhex(wanted.value)
JOIN crawls c ON c.id = $1

-- name: by_key (postgres)
-- How rows are found: see `settle`.
SELECT e.key, e.seq, e.state, e.reason, c.state AS crawl_state
FROM crawls c
CROSS JOIN unnest($2::bytea[]) AS w (key)
CROSS JOIN LATERAL (
    SELECT x.key, x.seq, x.state, x.reason FROM entries x WHERE x.crawl_id = $1 AND x.key = w.key LIMIT 1
) e
WHERE c.id = $1

-- name: candidates (sqlite)
SELECT c.id, c.team_id, t.plan, c.running + c.lists_running AS busy, c.startable,
       max(0, coalesce(c.max_documents, 1000000000000) - c.completed - c.running - c.fetched) AS pages,
       c.gap, c.scan_from
FROM crawls c
JOIN teams t ON t.id = c.team_id
WHERE c.startable > 0 AND c.next_at <= $1
ORDER BY c.next_at
LIMIT $2

-- name: candidates (postgres)
-- Crawls that could start something, those first that nobody looked at for longest; with what their teams have
-- running in all their crawls.
WITH candidate AS MATERIALIZED (
    SELECT id, team_id, running + lists_running AS busy, startable, gap, scan_from, next_at,
           queued + lists_queued AS waiting,
           greatest(0, least(queued, coalesce(max_documents, 1000000000000) - completed - running - fetched)) AS pages
    FROM crawls
    WHERE has_startable AND next_at <= gannet_now()
    ORDER BY next_at
    LIMIT $1
), team AS MATERIALIZED (
    SELECT w.team_id, t.plan, o.busy
    FROM (SELECT DISTINCT team_id FROM candidate) w
    JOIN teams t ON t.id = w.team_id
    CROSS JOIN LATERAL (
        SELECT sum(c.running + c.lists_running)::bigint AS busy FROM crawls c WHERE c.team_id = w.team_id AND c.state = 0
    ) o
)
SELECT c.id, c.team_id, t.plan, c.busy, c.startable, c.pages, c.gap, c.scan_from, c.waiting, t.busy AS team_busy,
       gannet_now() AS now
FROM candidate c
JOIN team t ON t.team_id = c.team_id
ORDER BY c.next_at

-- name: claim_lock (postgres)
-- One claim at a time: that keeps slots, paces and fairness exact over all processes. Nothing else waits for this
-- lock, it ends with the transaction, and it works behind a transaction pooler. A claim does not wait for the disk
-- either: when the server crashes before it is there, the entries are queued as before and the leases are lost.
SELECT set_config('synchronous_commit', 'off', TRUE),
       pg_advisory_xact_lock(1735289201, 'entries'::regclass::oid::int)

-- name: crawl
SELECT c.id, c.team_id, c.key_id, c.kind, c.state, c.private, c.max_documents, c.discovered, c.queued, c.running, c.fetched,
       c.completed, c.failed, c.skipped, c.cancelled, c.lists_queued, c.lists_running, c.lists_fetched, c.version,
       c.bytes, c.credits, c.error, c.created_at, c.finished_at, c.expires_at, c.deadline_at, p.request,
       gannet_now() AS now
FROM crawls c
JOIN crawl_payloads p ON p.crawl_id = c.id
WHERE c.id = $1 AND ($2::uuid IS NULL OR c.team_id = $2)

-- name: documents
-- The bytes are summed up before a body is read, so that no more is read than is returned. The caller
-- sorts: sorting here would copy the bodies.
SELECT e.number, e.seq, e.url, d.body
FROM (
    SELECT number, seq, url, sum(document_bytes) OVER (ORDER BY number) AS total
    FROM entries
    WHERE crawl_id = $1 AND number > $2
    ORDER BY number
    LIMIT $3
) e
JOIN documents d ON d.crawl_id = $1 AND d.seq = e.seq
WHERE e.total <= $4 OR e.number - 1 = $2

-- name: end_attempts (postgres)
-- The ends of attempts that still hold their leases: what they brought is put down, the rest is queued again. Their
-- crawls are locked. How rows are found: see `settle`.
WITH held AS MATERIALIZED (
    SELECT e.place, a.owner, a.number, a.state, a.uncounted, a.delay, a.error, a.outcome, a.document
    FROM unnest(
        $1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
        $9::bytea[], $10::bytea[]
    ) AS a (crawl_id, seq, owner, number, state, uncounted, delay, error, outcome, document)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = a.crawl_id AND x.seq = a.seq AND x.state = 1 AND x.lease_owner = a.owner
          AND x.lease_number = a.number
        LIMIT 1
    ) e
), ended AS (
    UPDATE entries e
    SET state          = h.state,
        attempts       = e.attempts - h.uncounted,
        run_at         = coalesce(gannet_now() + h.delay, e.run_at),
        reason         = coalesce(h.error, e.reason),
        document_bytes = octet_length(h.document),
        lease_owner    = NULL,
        lease_until    = NULL,
        changed_at     = gannet_now()
    FROM held h
    WHERE e.ctid = h.place
    RETURNING e.crawl_id, e.seq, h.owner, h.number, e.is_lists, h.outcome, h.document
), outcome AS (
    INSERT INTO outcomes (crawl_id, seq, body) SELECT crawl_id, seq, outcome FROM ended WHERE outcome IS NOT NULL
), document AS (
    INSERT INTO documents (crawl_id, seq, body) SELECT crawl_id, seq, document FROM ended WHERE document IS NOT NULL
)
SELECT crawl_id, seq, owner AS lease_owner, number AS lease_number, is_lists FROM ended

-- name: entries
-- In the order of the table, not of states: these are many states, or all.
SELECT seq, url, depth, state, reason, attempts, changed_at
FROM entries
WHERE crawl_id = $1 AND seq > $2 AND NOT is_lists AND state + 0 = ANY ($3)
ORDER BY seq
LIMIT $4

-- name: entries_insert (sqlite)
-- Each line is [seq, key, state, is_lists, depth, url, host, reason].
INSERT INTO entries (crawl_id, seq, key, state, is_lists, depth, run_at, changed_at, url, host, reason)
SELECT $1, line.value ->> 0, unhex(line.value ->> 1), line.value ->> 2, line.value ->> 3, line.value ->> 4, gannet_now(), gannet_now(),
       line.value ->> 5, line.value ->> 6, line.value ->> 7
FROM json_each($2) line

-- name: entries_insert (postgres)
INSERT INTO entries (crawl_id, seq, key, state, is_lists, depth, run_at, changed_at, url, host, reason)
SELECT $1, n.seq, n.key, n.state, n.is_lists, n.depth, gannet_now(), gannet_now(), n.url, n.host, n.reason
FROM unnest(
    $2::bigint[], $3::bytea[], $4::bigint[], $5::boolean[], $6::bigint[], $7::text[], $8::text[], $9::text[]
) AS n (seq, key, state, is_lists, depth, url, host, reason)

-- name: entries_of_state (sqlite)
SELECT seq, url, depth, state, reason, attempts, changed_at
FROM entries INDEXED BY entries_states
WHERE crawl_id = $1 AND seq > $2 AND NOT is_lists AND state = $3
ORDER BY seq
LIMIT $4

-- name: entries_of_state (postgres)
SELECT seq, url, depth, state, reason, attempts, changed_at
FROM entries
WHERE crawl_id = $1 AND seq > $2 AND NOT is_lists AND state = $3
ORDER BY seq
LIMIT $4

-- name: fetched (sqlite)
-- What is fetched, up to the first entry that is waited for: one that runs in its first attempt, not longer than
-- patience allows. Whatever waited too long itself goes, and all before it.
WITH
blocker (seq) AS (
    SELECT min(seq) FROM entries INDEXED BY entries_states
    WHERE crawl_id = $1 AND state = 1 AND attempts = 1 AND changed_at > gannet_now() - $4
),
edge (seq) AS (
    SELECT CASE
        WHEN seq IS NULL OR $3 THEN 9223372036854775807
        ELSE max(
            seq - 1,
            coalesce(
                (
                    SELECT max(seq) FROM entries INDEXED BY entries_states
                    WHERE crawl_id = $1 AND state = 2 AND changed_at <= gannet_now() - $4
                ),
                0
            )
        )
    END
    FROM blocker
)
SELECT e.seq, e.key, e.url, e.depth, e.is_lists, e.document_bytes, o.body AS outcome
FROM entries e INDEXED BY entries_states
LEFT JOIN outcomes o ON o.crawl_id = e.crawl_id AND o.seq = e.seq
WHERE e.crawl_id = $1 AND e.state = 2 AND e.seq <= (SELECT seq FROM edge)
ORDER BY e.seq
LIMIT $2

-- name: fetched (postgres)
-- What is fetched, up to the first entry that is waited for: one that runs in its first attempt, not longer than
-- patience allows. Whatever waited too long itself goes, and all before it.
WITH edge (seq) AS (
    SELECT CASE
        WHEN first.seq IS NULL OR $3 THEN 9223372036854775807
        ELSE greatest(
            first.seq - 1,
            (SELECT max(seq) FROM entries WHERE crawl_id = $1 AND state = 2 AND changed_at <= gannet_now() - $4)
        )
    END
    FROM (
        SELECT min(seq) AS seq
        FROM entries
        WHERE crawl_id = $1 AND state = 1 AND attempts = 1 AND changed_at > gannet_now() - $4
    ) first
)
SELECT e.seq, e.key, e.url, e.depth, e.is_lists, e.document_bytes,
       (SELECT o.body FROM outcomes o WHERE o.crawl_id = e.crawl_id AND o.seq = e.seq) AS outcome
FROM entries e
WHERE e.crawl_id = $1 AND e.state = 2 AND e.seq <= (SELECT seq FROM edge)
ORDER BY e.seq
LIMIT $2

-- name: forget_leases
-- Of a crawl that has ended: its entries stay as they are, but no sweep looks at them again.
UPDATE entries SET lease_owner = NULL, lease_until = NULL WHERE crawl_id = $1 AND seq = ANY ($2) AND state = 1

-- name: held (sqlite)
-- CROSS JOIN keeps the order: the few that are asked for first, not all entries of the crawl.
SELECT e.seq, e.is_lists, e.lease_owner, e.lease_number, c.team_id, c.private
FROM json_each($2) wanted
CROSS JOIN entries e ON e.crawl_id = $1 AND e.seq = wanted.value
JOIN crawls c ON c.id = $1
WHERE e.state = 1 AND c.state = 0

-- name: insert (sqlite)
INSERT INTO crawls (
    id, team_id, key_id, kind, state, private, max_documents, max_running, gap, run_for, retain_for, reservation,
    discovered, queued, skipped, lists_queued, last_seq, not_before, next_at, created_at, deadline_at
)
VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11, 0, 0, 0, 0, 0, $12, $12, $12, $13)
ON CONFLICT DO NOTHING

-- name: insert (postgres)
INSERT INTO crawls (
    id, team_id, key_id, kind, state, private, max_documents, max_running, gap, run_for, retain_for, reservation,
    not_before, next_at, created_at, deadline_at
)
VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12, $13)
ON CONFLICT (id) DO NOTHING

-- name: keep (sqlite)
UPDATE entries
SET lease_until = $4
WHERE crawl_id = $1 AND state = 1 AND lease_owner = $2
  AND (seq, lease_number) IN (SELECT value ->> 0, value ->> 1 FROM json_each($3))
  AND EXISTS (SELECT 1 FROM crawls WHERE id = $1 AND state = 0)
RETURNING seq, lease_number

-- name: keep (postgres)
-- How rows are found: see `settle`.
WITH held AS MATERIALIZED (
    SELECT e.place
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[]) AS k (crawl_id, seq, owner, number)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = k.crawl_id AND x.seq = k.seq AND x.state = 1 AND x.lease_owner = k.owner
          AND x.lease_number = k.number
        LIMIT 1
    ) e
)
UPDATE entries e
SET lease_until = gannet_now() + $5
FROM held h
WHERE e.ctid = h.place
RETURNING e.crawl_id, e.seq, e.lease_owner, e.lease_number

-- name: lock_live (postgres)
-- Always before any of their entries, and in the order of ids, so that nobody waits in a circle.
SELECT id, team_id, private FROM crawls WHERE id = ANY ($1) AND state = 0 ORDER BY id FOR NO KEY UPDATE

-- name: scan_again (postgres)
-- Crawls that wait for a time; locked in the order of ids, as all lock them.
WITH patient AS MATERIALIZED (
    SELECT id FROM crawls WHERE has_startable AND next_at > gannet_now() ORDER BY id FOR NO KEY UPDATE
)
UPDATE crawls c SET next_at = c.not_before FROM patient p WHERE c.id = p.id

-- name: scanned (sqlite)
-- After a scan: what was taken, and when and where the next one is worth its while.
UPDATE crawls
SET queued        = queued + $2,
    running       = running + $3,
    lists_queued  = lists_queued + $4,
    lists_running = lists_running + $5,
    not_before    = coalesce($6, not_before),
    next_at       = max(coalesce($6, not_before), $7),
    scan_from     = $8
WHERE id = $1

-- name: scanned (postgres)
-- How crawls stand after a claim scanned them: what was taken, and when and where the next scan is worth its
-- while. When more is queued than the claim saw (only claims take from the queue), it cannot tell.
UPDATE crawls c
SET queued        = c.queued - l.pages,
    running       = c.running + l.pages,
    lists_queued  = c.lists_queued - l.lists,
    lists_running = c.lists_running + l.lists,
    scan_from     = l.scan_from,
    not_before    = CASE WHEN l.pages + l.lists > 0 AND c.gap > 0 THEN gannet_now() + c.gap ELSE c.not_before END,
    next_at       = greatest(
        CASE WHEN l.pages + l.lists > 0 AND c.gap > 0 THEN gannet_now() + c.gap ELSE c.not_before END,
        CASE WHEN c.queued + c.lists_queued = l.waiting THEN coalesce(l.next_at, c.next_at) ELSE c.next_at END
    )
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS l (crawl_id, pages, lists, waiting, scan_from, next_at)
WHERE c.id = l.crawl_id

-- name: lost
SELECT crawl_id, seq FROM entries WHERE state = 1 AND lease_until <= gannet_now() ORDER BY lease_until LIMIT $1

-- name: settlement_memory_write
UPDATE crawl_payloads SET settlement_memory = $2 WHERE crawl_id = $1

-- name: moved (sqlite)
-- Entries of a crawl changed hands. What went back to the queue is looked for by the next claim.
UPDATE crawls
SET queued        = queued + $2,
    running       = running + $3,
    fetched       = fetched + $4,
    lists_queued  = lists_queued + $5,
    lists_running = lists_running + $6,
    lists_fetched = lists_fetched + $7,
    next_at       = CASE WHEN $2 > 0 OR $5 > 0 THEN not_before ELSE next_at END,
    stored        = stored + $8
WHERE id = $1

-- name: moved (postgres)
-- Entries of locked crawls changed hands. What went back to the queue is looked for by the next claim.
UPDATE crawls c
SET queued        = c.queued + m.queued,
    running       = c.running + m.running,
    fetched       = c.fetched + m.fetched,
    lists_queued  = c.lists_queued + m.lists_queued,
    lists_running = c.lists_running + m.lists_running,
    lists_fetched = c.lists_fetched + m.lists_fetched,
    next_at       = CASE WHEN m.queued > 0 OR m.lists_queued > 0 THEN c.not_before ELSE c.next_at END,
    stored        = c.stored + m.stored
FROM unnest(
    $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]
) AS m (crawl_id, queued, running, fetched, lists_queued, lists_running, lists_fetched, stored)
WHERE c.id = m.crawl_id

-- name: overdue
SELECT c.id, c.team_id, c.key_id, c.kind, c.state, c.private, c.max_documents, c.discovered, c.queued, c.running, c.fetched,
       c.completed, c.failed, c.skipped, c.cancelled, c.lists_queued, c.lists_running, c.lists_fetched, c.version,
       c.bytes, c.credits, c.error, c.created_at, c.finished_at, c.expires_at, c.deadline_at, p.request,
       gannet_now() AS now
FROM crawls c
JOIN crawl_payloads p ON p.crawl_id = c.id
WHERE c.state = 0 AND c.deadline_at <= gannet_now()
ORDER BY c.deadline_at
LIMIT $1

-- name: pace (sqlite)
-- With a shorter gap, crawls that wait for the longer one are worth a look.
UPDATE crawls SET next_at = not_before
WHERE startable > 0 AND next_at > $4 AND EXISTS (SELECT 1 FROM host_paces WHERE host = $1 AND gap > $2);

INSERT INTO host_paces (host, gap, paused_until, set_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (host) DO UPDATE SET
    gap          = excluded.gap,
    paused_until = max(paused_until, excluded.paused_until),
    set_at       = excluded.set_at

-- name: pace (postgres)
INSERT INTO host_paces AS p (host, gap, paused_until, set_at)
VALUES ($1, $2, gannet_now() + $3, gannet_now())
ON CONFLICT (host) DO UPDATE SET
    gap          = excluded.gap,
    paused_until = greatest(p.paused_until, excluded.paused_until),
    set_at       = excluded.set_at

-- name: pace_gap
SELECT gap FROM host_paces WHERE host = $1

-- name: paces_started
UPDATE host_paces SET started_at = gannet_now() WHERE host = ANY ($1)

-- name: payload_insert
INSERT INTO crawl_payloads (crawl_id, request) VALUES ($1, $2)

-- name: expired
-- Locked while they go, so that nobody opens one again half-way.
SELECT id, private FROM crawls WHERE expires_at <= gannet_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED

-- name: purge (sqlite)
-- Comes after all that is theirs, and only when that was not too much for one call.
DELETE FROM crawls WHERE id IN (SELECT unhex(value) FROM json_each($1) LIMIT $2)

-- name: purge (postgres)
-- Comes after all that is theirs, and only when that was not too much for one call.
DELETE FROM crawls WHERE ctid = ANY (ARRAY(SELECT ctid FROM crawls WHERE id = ANY ($1) LIMIT $2))

-- name: purge_documents (sqlite)
DELETE FROM documents
WHERE (crawl_id, seq) IN (
    SELECT crawl_id, seq FROM documents WHERE crawl_id IN (SELECT unhex(value) FROM json_each($1)) LIMIT $2
)

-- name: purge_documents (postgres)
DELETE FROM documents WHERE ctid = ANY (ARRAY(SELECT ctid FROM documents WHERE crawl_id = ANY ($1) LIMIT $2))

-- name: purge_entries (sqlite)
DELETE FROM entries
WHERE (crawl_id, seq) IN (
    SELECT crawl_id, seq FROM entries WHERE crawl_id IN (SELECT unhex(value) FROM json_each($1)) LIMIT $2
)

-- name: purge_entries (postgres)
DELETE FROM entries WHERE ctid = ANY (ARRAY(SELECT ctid FROM entries WHERE crawl_id = ANY ($1) LIMIT $2))

-- name: purge_outcomes (sqlite)
DELETE FROM outcomes
WHERE (crawl_id, seq) IN (
    SELECT crawl_id, seq FROM outcomes WHERE crawl_id IN (SELECT unhex(value) FROM json_each($1)) LIMIT $2
)

-- name: purge_outcomes (postgres)
DELETE FROM outcomes WHERE ctid = ANY (ARRAY(SELECT ctid FROM outcomes WHERE crawl_id = ANY ($1) LIMIT $2))

-- name: purge_paces
-- A host that nobody asked or set a pace for since a day; its pause is over too.
DELETE FROM host_paces
WHERE host IN (
    SELECT host FROM host_paces
    WHERE set_at <= gannet_now() - 86400000 AND started_at <= gannet_now() - 86400000 AND paused_until <= gannet_now()
    ORDER BY set_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)

-- name: purge_payloads (sqlite)
DELETE FROM crawl_payloads WHERE crawl_id IN (SELECT unhex(value) FROM json_each($1) LIMIT $2)

-- name: purge_payloads (postgres)
DELETE FROM crawl_payloads
WHERE ctid = ANY (ARRAY(SELECT ctid FROM crawl_payloads WHERE crawl_id = ANY ($1) LIMIT $2))

-- name: requeue (sqlite)
UPDATE entries
SET state       = 0,
    attempts    = attempts - $3,
    reason      = coalesce($4, reason),
    run_at      = $5,
    changed_at  = $6,
    lease_owner = NULL,
    lease_until = NULL
WHERE crawl_id = $1 AND seq = $2

-- name: reservation
SELECT reservation FROM crawls WHERE id = $1

-- name: revive (sqlite)
UPDATE entries
SET state = 0, attempts = 0, reason = NULL, run_at = gannet_now(), changed_at = gannet_now()
WHERE crawl_id = $1 AND seq IN (SELECT value FROM json_each($2)) AND state = 5 AND NOT is_lists

-- name: revive (postgres)
-- How rows are found: see `settle`.
WITH skipped AS MATERIALIZED (
    SELECT e.place
    FROM unnest($2::bigint[]) AS w (seq)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = $1 AND x.seq = w.seq AND x.state = 5 AND NOT x.is_lists
        LIMIT 1
    ) e
)
UPDATE entries e
SET state = 0, attempts = 0, reason = NULL, run_at = gannet_now(), changed_at = gannet_now()
FROM skipped s
WHERE e.ctid = s.place

-- name: settle (sqlite)
-- What becomes of fetched entries, in one go: going to and from the writer costs more than the writing. Each line is
-- [seq, state, number, bytes of the document, reason].
WITH line (crawl_id, seq, state, number, bytes, reason) AS MATERIALIZED (
    SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each($2)
)
UPDATE entries
SET state = line.state, number = line.number, document_bytes = line.bytes, reason = line.reason, changed_at = gannet_now()
FROM line
WHERE entries.crawl_id = line.crawl_id AND entries.seq = line.seq;

DELETE FROM outcomes WHERE crawl_id = $1 AND seq IN (SELECT value ->> 0 FROM json_each($2));

DELETE FROM documents
WHERE crawl_id = $1 AND seq IN (SELECT value ->> 0 FROM json_each($2) WHERE value ->> 2 IS NULL)

-- name: settle (postgres)
-- Writes decisions down. What the attempts brought is not needed any more, nor are the documents in $7.
--
-- How rows are found, here and in the statements like this: one by one, each by its key (a limit keeps the search apart
-- from the rest of the statement), and then changed where they lie. That is safe because their crawl is locked. A join
-- would be planned by the size of the table, and a plan that was made when it was small walks through all of it later.
WITH decision AS MATERIALIZED (
    SELECT f.state, f.number, f.document_bytes, f.reason, e.place,
           (SELECT o.ctid FROM outcomes o WHERE o.crawl_id = $1 AND o.seq = f.seq) AS outcome
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
        AS f (seq, state, number, document_bytes, reason)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x WHERE x.crawl_id = $1 AND x.seq = f.seq LIMIT 1
    ) e
), needless AS MATERIALIZED (
    SELECT (SELECT d.ctid FROM documents d WHERE d.crawl_id = $1 AND d.seq = n.seq) AS document
    FROM unnest($7::bigint[]) AS n (seq)
), outcome AS (
    DELETE FROM outcomes o USING decision f WHERE o.ctid = f.outcome
), document AS (
    DELETE FROM documents d USING needless n WHERE d.ctid = n.document
)
UPDATE entries e
SET state          = f.state,
    number         = f.number,
    document_bytes = f.document_bytes,
    reason         = f.reason,
    changed_at     = gannet_now()
FROM decision f
WHERE e.ctid = f.place

-- name: progress
-- Always before any of its entries, so that nobody waits in a circle.
SELECT id, team_id, key_id, kind, state, max_documents, reservation, run_for, retain_for, discovered, queued, running,
       fetched, completed, failed, skipped, cancelled, lists_queued, lists_running, lists_fetched, last_seq, version,
       bytes, stored, credits, not_before, next_at, deadline_at, finished_at, expires_at, error, private,
       gannet_now() AS now
FROM crawls
WHERE id = $1
FOR NO KEY UPDATE

-- name: progress_read
-- The same without a lock.
SELECT id, team_id, key_id, kind, state, max_documents, reservation, run_for, retain_for, discovered, queued, running,
       fetched, completed, failed, skipped, cancelled, lists_queued, lists_running, lists_fetched, last_seq, version,
       bytes, stored, credits, not_before, next_at, deadline_at, finished_at, expires_at, error, private
FROM crawls
WHERE id = $1

-- name: progress_write
UPDATE crawls
SET state         = $2,
    reservation   = $3,
    discovered    = $4,
    queued        = $5,
    running       = $6,
    fetched       = $7,
    completed     = $8,
    failed        = $9,
    skipped       = $10,
    cancelled     = $11,
    lists_queued  = $12,
    lists_running = $13,
    lists_fetched = $14,
    last_seq      = $15,
    version       = $16,
    bytes         = $17,
    credits       = $18,
    next_at       = $19,
    deadline_at   = $20,
    finished_at   = $21,
    expires_at    = $22,
    error         = $23,
    stored        = $24
WHERE id = $1

-- name: take (sqlite)
UPDATE entries
SET state        = 1,
    attempts     = attempts + 1,
    lease_number = lease_number + 1,
    lease_owner  = $3,
    lease_until  = $4,
    changed_at   = $5
WHERE crawl_id = $1 AND seq IN (SELECT value FROM json_each($2))
RETURNING seq, lease_number, attempts

-- name: take (postgres)
-- Their crawls are locked, and claims take turns: whatever was queued a moment ago still is. How rows are found: see
-- `settle`.
WITH chosen AS MATERIALIZED (
    SELECT e.place
    FROM unnest($1::uuid[], $2::bigint[]) AS t (crawl_id, seq)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = t.crawl_id AND x.seq = t.seq AND x.state = 0
        LIMIT 1
    ) e
)
UPDATE entries e
SET state        = 1,
    attempts     = e.attempts + 1,
    lease_number = e.lease_number + 1,
    lease_owner  = $3,
    lease_until  = gannet_now() + $4,
    changed_at   = gannet_now()
FROM chosen c
WHERE e.ctid = c.place
RETURNING e.crawl_id, e.seq, e.lease_number, e.attempts

-- name: take_back (sqlite)
-- From workers that were silent too long: back to the queue, or, after too many attempts, to be settled. `+` so that rows
-- are not found by the index of leases.
UPDATE entries
SET state       = CASE WHEN attempts >= $3 THEN 2 ELSE 0 END,
    lease_owner = NULL,
    lease_until = NULL,
    changed_at  = gannet_now()
WHERE crawl_id = $1 AND seq IN (SELECT value FROM json_each($2)) AND +state = 1 AND lease_until <= gannet_now()
RETURNING is_lists, state

-- name: take_back (postgres)
-- From workers that were silent too long: back to the queue, or, after too many attempts, to whoever settles. How rows
-- are found: see `settle`; `+ 0` so that it is not by the index of leases.
WITH lost AS MATERIALIZED (
    SELECT e.place
    FROM unnest($2::bigint[]) AS l (seq)
    CROSS JOIN LATERAL (
        SELECT x.ctid AS place FROM entries x
        WHERE x.crawl_id = $1 AND x.seq = l.seq AND x.state + 0 = 1 AND x.lease_until <= gannet_now()
        LIMIT 1
    ) e
)
UPDATE entries e
SET state       = CASE WHEN e.attempts >= $3 THEN 2 ELSE 0 END,
    lease_owner = NULL,
    lease_until = NULL,
    changed_at  = gannet_now()
FROM lost l
WHERE e.ctid = l.place
RETURNING e.is_lists, e.state

-- name: settleable
SELECT c.id, c.team_id, c.key_id, c.kind, c.state, c.private, c.max_documents, c.discovered, c.queued, c.running, c.fetched,
       c.completed, c.failed, c.skipped, c.cancelled, c.lists_queued, c.lists_running, c.lists_fetched, c.version,
       c.bytes, c.credits, c.error, c.created_at, c.finished_at, c.expires_at, c.deadline_at, p.request,
       p.settlement_memory, gannet_now() AS now
FROM crawls c
JOIN crawl_payloads p ON p.crawl_id = c.id
WHERE c.id = $1 AND c.state = 0

-- name: unknown_keys (sqlite)
-- The positions of those keys that no entry has: there are few, most of what is found is known.
SELECT wanted.key AS position
FROM json_each($2) wanted
WHERE NOT EXISTS (SELECT 1 FROM entries WHERE crawl_id = $1 AND key = unhex(wanted.value))

-- name: unknown_keys (postgres)
-- The positions of those keys that no entry has: there are few, most of what is found is known. How rows are found: see
-- `settle`.
SELECT w.position - 1 AS position
FROM unnest($2::bytea[]) WITH ORDINALITY AS w (key, position)
WHERE (SELECT TRUE FROM entries x WHERE x.crawl_id = $1 AND x.key = w.key) IS NULL

-- name: unsettled
SELECT id FROM crawls WHERE state = 0 AND fetched + lists_fetched > 0 ORDER BY id LIMIT $1

-- name: waiting (sqlite)
-- CROSS JOIN keeps the order: the few that are asked for first, not all entries of the crawl.
SELECT e.seq, e.is_lists, e.document_bytes
FROM json_each($2) wanted
CROSS JOIN entries e ON e.crawl_id = $1 AND e.seq = wanted.value
WHERE e.state = 2

-- name: waiting (postgres)
-- How rows are found: see `settle`.
SELECT e.seq, e.is_lists, e.document_bytes
FROM unnest($2::bigint[]) AS w (seq)
CROSS JOIN LATERAL (
    SELECT x.seq, x.is_lists, x.document_bytes FROM entries x
    WHERE x.crawl_id = $1 AND x.seq = w.seq AND x.state = 2
    LIMIT 1
) e

-- name: window (sqlite)
SELECT e.seq, e.url, e.host, e.depth, e.is_lists, e.run_at,
       coalesce(max(p.started_at + p.gap, p.paused_until), 0) AS host_at,
       coalesce(p.gap, 0) AS host_gap
FROM entries e INDEXED BY entries_states
LEFT JOIN host_paces p ON p.host = e.host
WHERE e.crawl_id = $1 AND e.state = 0 AND e.seq > $2
ORDER BY e.seq
LIMIT $3

-- name: windows (postgres)
-- The next queued entries of several crawls, each after a number, with how their hosts want to be asked. How rows are
-- found: see `settle`.
SELECT w.place, e.seq, e.url, e.host, e.depth, e.is_lists, e.run_at, coalesce(p.gap, 0) AS host_gap,
       coalesce(greatest(p.paused_until, CASE WHEN p.gap > 0 THEN p.started_at + p.gap END), 0) AS host_at
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[]) AS w (place, crawl_id, after, size)
CROSS JOIN LATERAL (
    SELECT q.seq, q.url, q.host, q.depth, q.is_lists, q.run_at
    FROM entries q
    WHERE q.crawl_id = w.crawl_id AND q.state = 0 AND q.seq > w.after
    ORDER BY q.seq
    LIMIT w.size
) e
LEFT JOIN LATERAL (SELECT h.gap, h.started_at, h.paused_until FROM host_paces h WHERE h.host = e.host LIMIT 1) p ON TRUE
ORDER BY w.place, e.seq

-- name: write_fetched (sqlite)
-- Attempts that came to something, in one go: going to and from the writer costs more than the writing. Each line is
-- [seq, start of its outcome, bytes of it, start of its document, bytes of it]; outcomes and documents lie end to end.
WITH line (crawl_id, seq, bytes) AS MATERIALIZED (
    SELECT $1, value ->> 0, value ->> 4 FROM json_each($2)
)
UPDATE entries
SET state = 2, lease_owner = NULL, lease_until = NULL, document_bytes = line.bytes, changed_at = gannet_now()
FROM line
WHERE entries.crawl_id = line.crawl_id AND entries.seq = line.seq;

INSERT INTO outcomes (crawl_id, seq, body)
SELECT $1, value ->> 0, substr($3, value ->> 1, value ->> 2) FROM json_each($2);

INSERT INTO documents (crawl_id, seq, body)
SELECT $1, value ->> 0, substr($4, value ->> 3, value ->> 4) FROM json_each($2) WHERE value ->> 4 IS NOT NULL
