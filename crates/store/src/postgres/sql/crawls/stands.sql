-- Only to be looked at; see standing.sql.
SELECT id, team_id, key_id, kind, state, most_documents, reservation, run_for, retain_for, discovered, queued, running,
       fetched, completed, failed, skipped, cancelled, lists_queued, lists_running, lists_fetched, last_seq, version,
       bytes, stored, credits, not_before, next_at, deadline_at, finished_at, expires_at, error
FROM crawls
WHERE id = $1
