-- Ceilings for crawls and batches, agent runs, and webhooks: the bytes that they store are counted as those of pages are.

ALTER TABLE crawls ADD COLUMN stored BIGINT NOT NULL DEFAULT 0; -- bytes of its request, addresses and documents
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

-- For each row, and not for each statement: only those whose bytes changed, and most changes of a crawl change none.
CREATE FUNCTION gannet_count_crawl() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO stored_changes (kind, bytes) VALUES ('crawls', -OLD.stored);
    ELSE
        INSERT INTO stored_changes (kind, bytes) VALUES ('crawls', NEW.stored - OLD.stored);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER crawls_stored_changed AFTER UPDATE OF stored ON crawls
    FOR EACH ROW WHEN (NEW.stored <> OLD.stored) EXECUTE FUNCTION gannet_count_crawl();
CREATE TRIGGER crawls_gone AFTER DELETE ON crawls
    FOR EACH ROW WHEN (OLD.stored <> 0) EXECUTE FUNCTION gannet_count_crawl();

-- The first argument is the kind, the second the expression for the bytes of a row.
CREATE FUNCTION gannet_measure_added() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO stored_changes (kind, bytes) SELECT %1$L, sum(%2$s) FROM added HAVING sum(%2$s) <> 0',
        TG_ARGV[0], TG_ARGV[1]
    );
    RETURN NULL;
END
$$;
CREATE FUNCTION gannet_measure_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO stored_changes (kind, bytes) SELECT %1$L, -sum(%2$s) FROM gone HAVING sum(%2$s) <> 0',
        TG_ARGV[0], TG_ARGV[1]
    );
    RETURN NULL;
END
$$;
CREATE FUNCTION gannet_measure_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO stored_changes (kind, bytes)
         SELECT %1$L, sum(bytes)
         FROM (SELECT %2$s FROM added UNION ALL SELECT -(%2$s) FROM gone) AS c (bytes)
         HAVING sum(bytes) <> 0',
        TG_ARGV[0], TG_ARGV[1]
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER agent_events_added AFTER INSERT ON agent_events
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_measure_added('runs', 'octet_length(body) + 256');
CREATE TRIGGER agent_events_gone AFTER DELETE ON agent_events
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_measure_gone('runs', 'octet_length(body) + 256');
CREATE TRIGGER agent_snapshots_added AFTER INSERT ON agent_snapshots
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_measure_added('runs', 'octet_length(body) + 256');
CREATE TRIGGER agent_snapshots_gone AFTER DELETE ON agent_snapshots
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_measure_gone('runs', 'octet_length(body) + 256');
CREATE TRIGGER agent_luggage_added AFTER INSERT ON agent_luggage
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION gannet_measure_added(
        'runs',
        'octet_length(request) + coalesce(octet_length(artifact), 0) + coalesce(octet_length(result), 0) + 256'
    );
CREATE TRIGGER agent_luggage_changed AFTER UPDATE ON agent_luggage
    REFERENCING OLD TABLE AS gone NEW TABLE AS added EXECUTE FUNCTION gannet_measure_changed(
        'runs',
        'octet_length(request) + coalesce(octet_length(artifact), 0) + coalesce(octet_length(result), 0) + 256'
    );
CREATE TRIGGER agent_luggage_gone AFTER DELETE ON agent_luggage
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION gannet_measure_gone(
        'runs',
        'octet_length(request) + coalesce(octet_length(artifact), 0) + coalesce(octet_length(result), 0) + 256'
    );
CREATE TRIGGER deliveries_added AFTER INSERT ON deliveries
    REFERENCING NEW TABLE AS added
    EXECUTE FUNCTION gannet_measure_added('webhooks', 'octet_length(body) + octet_length(target) + 256');
CREATE TRIGGER deliveries_gone AFTER DELETE ON deliveries
    REFERENCING OLD TABLE AS gone
    EXECUTE FUNCTION gannet_measure_gone('webhooks', 'octet_length(body) + octet_length(target) + 256');
