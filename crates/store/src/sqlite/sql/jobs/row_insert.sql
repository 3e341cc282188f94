INSERT INTO job_rows (owner_id, seq, job_id, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
