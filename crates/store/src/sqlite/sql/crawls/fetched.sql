-- Attempts that came to something, in one go: going to and from the writer costs more than the writing. Each line is
-- [seq, start of its outcome, bytes of it, start of its document, bytes of it]; outcomes and documents lie end to end.
WITH line (crawl_id, seq, bytes) AS MATERIALIZED (
    SELECT $1, value ->> 0, value ->> 4 FROM json_each($2)
)
UPDATE entries
SET state = 2, lease_owner = NULL, lease_until = NULL, document_bytes = line.bytes, changed_at = $3
FROM line
WHERE entries.crawl_id = line.crawl_id AND entries.seq = line.seq;

INSERT INTO outcomes (crawl_id, seq, body)
SELECT $1, value ->> 0, substr($4, value ->> 1, value ->> 2) FROM json_each($2);

INSERT INTO documents (crawl_id, seq, body)
SELECT $1, value ->> 0, substr($5, value ->> 3, value ->> 4) FROM json_each($2) WHERE value ->> 4 IS NOT NULL
