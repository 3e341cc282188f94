INSERT INTO jobs (
    id, team_id, parent_id, kind, payload, state, rank, max_attempts, reservation, dedup_key, retain_for,
    created_at, run_at, deadline_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT DO NOTHING
