-- What becomes of fetched entries, in one go: going to and from the writer costs more than the writing. Each line is
-- [seq, state, number, bytes of the document, reason].
WITH line (crawl_id, seq, state, number, bytes, reason) AS MATERIALIZED (
    SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each($2)
)
UPDATE entries
SET state = line.state, number = line.number, document_bytes = line.bytes, reason = line.reason, changed_at = $3
FROM line
WHERE entries.crawl_id = line.crawl_id AND entries.seq = line.seq;

DELETE FROM outcomes WHERE crawl_id = $1 AND seq IN (SELECT value ->> 0 FROM json_each($2));

DELETE FROM documents
WHERE crawl_id = $1 AND seq IN (SELECT value ->> 0 FROM json_each($2) WHERE value ->> 2 IS NULL)
