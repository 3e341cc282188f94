-- The keys that secrets in this database are encrypted with, by their ids; the keys themselves are kept elsewhere.
-- A process that does not have all of them does not start.
CREATE TABLE secret_keys (
    id          BLOB    NOT NULL PRIMARY KEY,
    is_complete INTEGER NOT NULL, -- everything from before it was encrypted with it
    added_at    INTEGER NOT NULL
) STRICT;

-- A target that is encrypted anew may have another length.
CREATE TRIGGER deliveries_target_changed AFTER UPDATE OF target ON deliveries BEGIN
    UPDATE stored_bytes SET bytes = bytes + octet_length(new.target) - octet_length(old.target)
    WHERE kind = 'webhooks';
END;
