-- Tables and columns under plain names. Rows stay as they are; the server changes every use of a name with it.

DROP VIEW agent_runs_whole;

ALTER TABLE crawl_luggage RENAME TO crawl_payloads;
ALTER TABLE crawl_payloads RENAME COLUMN memory TO settlement_memory;
ALTER INDEX crawl_luggage_pkey RENAME TO crawl_payloads_pkey;

ALTER TABLE agent_luggage RENAME TO run_payloads;
ALTER INDEX agent_luggage_pkey RENAME TO run_payloads_pkey;
ALTER TRIGGER agent_luggage_added ON run_payloads RENAME TO run_payloads_added;
ALTER TRIGGER agent_luggage_changed ON run_payloads RENAME TO run_payloads_changed;
ALTER TRIGGER agent_luggage_gone ON run_payloads RENAME TO run_payloads_gone;

ALTER TABLE claims RENAME TO idempotency_keys;
ALTER INDEX claims_pkey RENAME TO idempotency_keys_pkey;
ALTER INDEX claims_expiry RENAME TO idempotency_keys_expiry;

ALTER TABLE crawls RENAME COLUMN most_documents TO max_documents;
ALTER TABLE crawls RENAME COLUMN look_from TO scan_from;
ALTER TABLE agent_runs RENAME COLUMN lost TO lost_leases;
ALTER TABLE deliveries RENAME COLUMN leases TO lease_number;

-- A run as it is read, and only while it has its payload: what is being deleted is not there any more.
CREATE VIEW agent_runs_with_request AS
SELECT r.id, r.team_id, r.key_id, r.kind, r.generation, r.state, r.thread_id, r.turn, r.max_credits, r.credits,
       r.lost_leases, r.cancel_requested_at, r.error, r.events, r.event_bytes, r.snapshot_bytes, r.created_at,
       r.wait_until, r.deadline_at, r.finished_at, r.expires_at, r.target, p.request
FROM agent_runs r
JOIN run_payloads p ON p.run_id = r.id;
