-- Writes fates down. What the attempts brought is not needed any more, nor are the documents in $7.
WITH outcome AS (
    DELETE FROM outcomes WHERE crawl_id = $1 AND seq = ANY ($2)
), document AS (
    DELETE FROM documents WHERE crawl_id = $1 AND seq = ANY ($7)
)
UPDATE entries e
SET state          = f.state,
    number         = f.number,
    document_bytes = f.document_bytes,
    reason         = f.reason,
    changed_at     = gannet_now()
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
    AS f (seq, state, number, document_bytes, reason)
WHERE e.crawl_id = $1 AND e.seq = f.seq
