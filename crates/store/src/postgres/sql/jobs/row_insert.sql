INSERT INTO job_rows (owner_id, seq, job_id, body, created_at)
SELECT $1, $2 + r.place, $3, r.body, gannet_now()
FROM unnest($4::text[]) WITH ORDINALITY AS r (body, place)
