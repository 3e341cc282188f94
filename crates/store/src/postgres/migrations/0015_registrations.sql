-- Agents that obtained a key with an identity assertion. Which user a key belongs to is kept as a hash of the issuer
-- and the subject, which is enough to revoke all keys of a user. An assertion may be used once.

CREATE TABLE registrations (
    key_id     UUID   NOT NULL PRIMARY KEY,
    user_hash  BYTEA  NOT NULL,
    client     TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX registrations_of_user ON registrations (user_hash, created_at, key_id);

CREATE TABLE used_assertions (
    hash       BYTEA  NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_assertions_expiry ON used_assertions (expires_at);
