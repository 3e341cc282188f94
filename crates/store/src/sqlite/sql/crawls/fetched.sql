-- An attempt that came to something, in one go: going to and from the writer costs more than the writing.
UPDATE entries
SET state = 2, lease_owner = NULL, lease_until = NULL, changed_at = $3, document_bytes = length($5)
WHERE crawl_id = $1 AND seq = $2;

INSERT INTO outcomes (crawl_id, seq, body) VALUES ($1, $2, $4);

INSERT INTO documents (crawl_id, seq, body) SELECT $1, $2, $5 WHERE $5 IS NOT NULL
