-- Writes fates down. What the attempts brought is not needed any more, nor are the documents in $7.
--
-- How rows are found, here and in the statements like this: one by one, each by its key (a limit keeps the search apart
-- from the rest of the statement), and then changed where they lie. That is safe because their crawl is locked. A join
-- would be planned by the size of the table, and a plan that was made when it was small walks through all of it later.
WITH fate AS MATERIALIZED (
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
    DELETE FROM outcomes o USING fate f WHERE o.ctid = f.outcome
), document AS (
    DELETE FROM documents d USING needless n WHERE d.ctid = n.document
)
UPDATE entries e
SET state          = f.state,
    number         = f.number,
    document_bytes = f.document_bytes,
    reason         = f.reason,
    changed_at     = gannet_now()
FROM fate f
WHERE e.ctid = f.place
