-- The keys that secrets in this database are encrypted with, by their ids; the keys themselves are kept elsewhere.
-- A process that does not have all of them does not start.
CREATE TABLE secret_keys (
    id          BYTEA   NOT NULL PRIMARY KEY,
    is_complete BOOLEAN NOT NULL, -- everything from before it was encrypted with it
    added_at    BIGINT  NOT NULL
);

-- A target that is encrypted anew may have another length.
CREATE FUNCTION gannet_count_target() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored_changes (kind, bytes)
    VALUES ('webhooks', octet_length(NEW.target) - octet_length(OLD.target));
    RETURN NULL;
END
$$;
CREATE TRIGGER deliveries_target_changed AFTER UPDATE OF target ON deliveries
    FOR EACH ROW WHEN (NEW.target <> OLD.target) EXECUTE FUNCTION gannet_count_target();
