-- The ends of attempts that still hold their leases: what they brought is put down, the rest is queued again. Their
-- crawls are locked. How rows are found: see settle.sql.
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
