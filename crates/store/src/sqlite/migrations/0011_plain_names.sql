-- Tables and columns under plain names. Rows stay as they are; what is named after a table is made anew under its new name.

DROP VIEW agent_runs_whole;
DROP TRIGGER agent_luggage_added;
DROP TRIGGER agent_luggage_changed;
DROP TRIGGER agent_luggage_gone;
DROP INDEX claims_expiry;

ALTER TABLE crawl_luggage RENAME TO crawl_payloads;
ALTER TABLE crawl_payloads RENAME COLUMN memory TO settlement_memory;
ALTER TABLE agent_luggage RENAME TO run_payloads;
ALTER TABLE claims RENAME TO idempotency_keys;
ALTER TABLE pulse RENAME TO write_check;
ALTER TABLE write_check RENAME COLUMN one TO id;
ALTER TABLE write_check RENAME COLUMN at TO written_at;
ALTER TABLE crawls RENAME COLUMN most_documents TO max_documents;
ALTER TABLE crawls RENAME COLUMN look_from TO scan_from;
ALTER TABLE agent_runs RENAME COLUMN lost TO lost_leases;
ALTER TABLE deliveries RENAME COLUMN leases TO lease_number;

CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

CREATE TRIGGER run_payloads_added AFTER INSERT ON run_payloads BEGIN
    UPDATE stored_bytes
    SET bytes = bytes + octet_length(new.request) + coalesce(octet_length(new.artifact), 0)
        + coalesce(octet_length(new.result), 0) + 256
    WHERE kind = 'runs';
END;
CREATE TRIGGER run_payloads_changed AFTER UPDATE OF request, artifact, result ON run_payloads BEGIN
    UPDATE stored_bytes
    SET bytes = bytes + octet_length(new.request) + coalesce(octet_length(new.artifact), 0)
        + coalesce(octet_length(new.result), 0) - octet_length(old.request) - coalesce(octet_length(old.artifact), 0)
        - coalesce(octet_length(old.result), 0)
    WHERE kind = 'runs';
END;
CREATE TRIGGER run_payloads_gone AFTER DELETE ON run_payloads BEGIN
    UPDATE stored_bytes
    SET bytes = bytes - octet_length(old.request) - coalesce(octet_length(old.artifact), 0)
        - coalesce(octet_length(old.result), 0) - 256
    WHERE kind = 'runs';
END;

-- A run as it is read, and only while it has its payload: what is being deleted is not there any more.
CREATE VIEW agent_runs_with_request AS
SELECT r.id, r.team_id, r.key_id, r.kind, r.generation, r.state, r.thread_id, r.turn, r.max_credits, r.credits,
       r.lost_leases, r.cancel_requested_at, r.error, r.events, r.event_bytes, r.snapshot_bytes, r.created_at,
       r.wait_until, r.deadline_at, r.finished_at, r.expires_at, r.target, p.request
FROM agent_runs r
JOIN run_payloads p ON p.run_id = r.id;
