-- What becomes of a fetched entry, in one go: going to and from the writer costs more than the writing.
UPDATE entries
SET state = $3, number = $4, document_bytes = $5, reason = $6, changed_at = $7
WHERE crawl_id = $1 AND seq = $2;

DELETE FROM outcomes WHERE crawl_id = $1 AND seq = $2;

DELETE FROM documents WHERE crawl_id = $1 AND seq = $2 AND $4 IS NULL
