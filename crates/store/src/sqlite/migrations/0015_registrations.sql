-- Agents that obtained a key with an identity assertion. Which user a key belongs to is kept as a hash of the issuer
-- and the subject, which is enough to revoke all keys of a user. An assertion may be used once.

CREATE TABLE registrations (
    key_id     BLOB    NOT NULL PRIMARY KEY,
    user_hash  BLOB    NOT NULL,
    client     TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX registrations_of_user ON registrations (user_hash, created_at, key_id);

CREATE TABLE used_assertions (
    hash       BLOB    NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_assertions_expiry ON used_assertions (expires_at);
