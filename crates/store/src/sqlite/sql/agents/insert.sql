INSERT INTO agent_runs (
    id, team_id, key_id, kind, generation, thread_id, turn, reservation, max_credits, run_for, retain_for, created_at,
    wait_until, target
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT (id) DO NOTHING
