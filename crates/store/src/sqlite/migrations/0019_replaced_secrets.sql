-- Secrets of API keys that were replaced by a new one. Each goes on working until its end. They stay as long as their
-- key, so that a secret that was replaced is never taken for an unknown one.

CREATE TABLE replaced_secrets (
    hash       BLOB    NOT NULL PRIMARY KEY,
    key_id     BLOB    NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    hint       TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replaced_secrets_key ON replaced_secrets (key_id, expires_at);
