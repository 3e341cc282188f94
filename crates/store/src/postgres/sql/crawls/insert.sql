INSERT INTO crawls (
    id, team_id, key_id, kind, state, private, most_documents, max_running, gap, run_for, retain_for, reservation,
    not_before, next_at, created_at, deadline_at
)
VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12, $13)
ON CONFLICT (id) DO NOTHING
