-- The ends of attempts that still hold their leases: what they brought is put down, the rest is queued again. Their
-- crawls are locked.
WITH ended AS (
    UPDATE entries e
    SET state          = a.state,
        attempts       = e.attempts - a.uncounted,
        run_at         = coalesce(gannet_now() + a.delay, e.run_at),
        reason         = coalesce(a.error, e.reason),
        document_bytes = octet_length(a.document),
        lease_owner    = NULL,
        lease_until    = NULL,
        changed_at     = gannet_now()
    FROM unnest(
        $1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
        $9::bytea[], $10::bytea[]
    ) AS a (crawl_id, seq, owner, number, state, uncounted, delay, error, outcome, document)
    WHERE e.crawl_id = a.crawl_id AND e.seq = a.seq AND e.state = 1 AND e.lease_owner = a.owner
      AND e.lease_number = a.number
    RETURNING e.crawl_id, e.seq, a.owner, a.number, e.is_lists, a.outcome, a.document
), outcome AS (
    INSERT INTO outcomes (crawl_id, seq, body) SELECT crawl_id, seq, outcome FROM ended WHERE outcome IS NOT NULL
), document AS (
    INSERT INTO documents (crawl_id, seq, body) SELECT crawl_id, seq, document FROM ended WHERE document IS NOT NULL
)
SELECT crawl_id, seq, owner AS lease_owner, number AS lease_number, is_lists FROM ended
