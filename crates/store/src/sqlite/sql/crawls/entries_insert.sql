-- Each line is [seq, key, state, is_lists, depth, url, host, reason].
INSERT INTO entries (crawl_id, seq, key, state, is_lists, depth, run_at, changed_at, url, host, reason)
SELECT ?1, line.value ->> 0, unhex(line.value ->> 1), line.value ->> 2, line.value ->> 3, line.value ->> 4, ?3, ?3,
       line.value ->> 5, line.value ->> 6, line.value ->> 7
FROM json_each(?2) line
