-- Written once, however often a caller who was not answered repeats it.
INSERT INTO deliveries (
    id, team_id, subject, leases, attempts, due_at, document, created_at, queued_at, event, target, body
)
VALUES (?1, ?2, ?3, 0, 0, 0, ?4, ?5, ?5, ?6, ?7, ?8)
ON CONFLICT (id) DO NOTHING
