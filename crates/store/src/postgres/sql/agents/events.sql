-- The first one whatever its size, then those that together do not exceed the bytes.
SELECT id, number, sequence, written_at, body
FROM (
    SELECT id, number, sequence, written_at, body,
           sum(octet_length(body)) OVER (ORDER BY number) AS bytes, row_number() OVER (ORDER BY number) AS place
    FROM (SELECT * FROM agent_events WHERE run_id = $1 AND number > $2 ORDER BY number LIMIT $3) next
) counted
WHERE bytes <= $4 OR place = 1
ORDER BY number
