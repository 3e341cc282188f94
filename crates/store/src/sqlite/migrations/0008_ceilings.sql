-- Ceilings for crawls and batches, agent runs, and webhooks: the bytes that they store are counted as those of pages are.

ALTER TABLE crawls ADD COLUMN stored INTEGER NOT NULL DEFAULT 0; -- bytes of its request, addresses and documents
UPDATE crawls SET stored = coalesce(
    (
        SELECT sum(octet_length(url) + octet_length(host) + 256 + coalesce(document_bytes, 0))
        FROM entries WHERE crawl_id = crawls.id
    ),
    0
);

INSERT INTO stored_bytes (kind, bytes) VALUES
    ('crawls', (SELECT coalesce(sum(stored), 0) FROM crawls)),
    (
        'runs',
        (SELECT coalesce(sum(octet_length(body) + 256), 0) FROM agent_events)
            + (SELECT coalesce(sum(octet_length(body) + 256), 0) FROM agent_snapshots)
            + (
                SELECT coalesce(sum(
                    octet_length(request) + coalesce(octet_length(artifact), 0) + coalesce(octet_length(result), 0) + 256
                ), 0)
                FROM agent_luggage
            )
    ),
    ('webhooks', (SELECT coalesce(sum(octet_length(body) + octet_length(target) + 256), 0) FROM deliveries));

CREATE TRIGGER crawls_stored_changed AFTER UPDATE OF stored ON crawls WHEN new.stored <> old.stored BEGIN
    UPDATE stored_bytes SET bytes = bytes + new.stored - old.stored WHERE kind = 'crawls';
END;
CREATE TRIGGER crawls_gone AFTER DELETE ON crawls WHEN old.stored <> 0 BEGIN
    UPDATE stored_bytes SET bytes = bytes - old.stored WHERE kind = 'crawls';
END;

CREATE TRIGGER agent_events_added AFTER INSERT ON agent_events BEGIN
    UPDATE stored_bytes SET bytes = bytes + octet_length(new.body) + 256 WHERE kind = 'runs';
END;
CREATE TRIGGER agent_events_gone AFTER DELETE ON agent_events BEGIN
    UPDATE stored_bytes SET bytes = bytes - octet_length(old.body) - 256 WHERE kind = 'runs';
END;
CREATE TRIGGER agent_snapshots_added AFTER INSERT ON agent_snapshots BEGIN
    UPDATE stored_bytes SET bytes = bytes + octet_length(new.body) + 256 WHERE kind = 'runs';
END;
CREATE TRIGGER agent_snapshots_gone AFTER DELETE ON agent_snapshots BEGIN
    UPDATE stored_bytes SET bytes = bytes - octet_length(old.body) - 256 WHERE kind = 'runs';
END;
CREATE TRIGGER agent_luggage_added AFTER INSERT ON agent_luggage BEGIN
    UPDATE stored_bytes
    SET bytes = bytes + octet_length(new.request) + coalesce(octet_length(new.artifact), 0)
        + coalesce(octet_length(new.result), 0) + 256
    WHERE kind = 'runs';
END;
CREATE TRIGGER agent_luggage_changed AFTER UPDATE OF request, artifact, result ON agent_luggage BEGIN
    UPDATE stored_bytes
    SET bytes = bytes + octet_length(new.request) + coalesce(octet_length(new.artifact), 0)
        + coalesce(octet_length(new.result), 0) - octet_length(old.request) - coalesce(octet_length(old.artifact), 0)
        - coalesce(octet_length(old.result), 0)
    WHERE kind = 'runs';
END;
CREATE TRIGGER agent_luggage_gone AFTER DELETE ON agent_luggage BEGIN
    UPDATE stored_bytes
    SET bytes = bytes - octet_length(old.request) - coalesce(octet_length(old.artifact), 0)
        - coalesce(octet_length(old.result), 0) - 256
    WHERE kind = 'runs';
END;

CREATE TRIGGER deliveries_added AFTER INSERT ON deliveries BEGIN
    UPDATE stored_bytes SET bytes = bytes + octet_length(new.body) + octet_length(new.target) + 256
    WHERE kind = 'webhooks';
END;
CREATE TRIGGER deliveries_gone AFTER DELETE ON deliveries BEGIN
    UPDATE stored_bytes SET bytes = bytes - octet_length(old.body) - octet_length(old.target) - 256
    WHERE kind = 'webhooks';
END;
