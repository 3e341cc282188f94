-- Each line is [seq, state, number, bytes of the document, reason].
UPDATE entries
SET state          = line.value ->> 1,
    number         = line.value ->> 2,
    document_bytes = line.value ->> 3,
    reason         = line.value ->> 4,
    changed_at     = ?3
FROM json_each(?2) line
WHERE entries.crawl_id = ?1 AND entries.seq = line.value ->> 0
