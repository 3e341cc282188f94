-- Applications that a person lets act for a team (OAuth). A client registers itself. A person who is signed in allows
-- it some scopes. It trades a code for a key of the team, and renews the secret of that key with a refresh token.
-- Codes and tokens are kept as hashes.

CREATE TABLE oauth_clients (
    id            UUID   NOT NULL PRIMARY KEY,
    name          TEXT   NOT NULL,
    redirect_uris TEXT   NOT NULL, -- JSON list
    expires_at    BIGINT NOT NULL  -- later with each use
);
CREATE INDEX oauth_clients_expiry ON oauth_clients (expires_at);

CREATE TABLE authorizations (
    key_id       UUID   NOT NULL PRIMARY KEY, -- of the key that the client gets
    team_id      UUID   NOT NULL,
    approver_id  UUID   NOT NULL,             -- the key that the person was signed in with
    client       TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    redirect_uri TEXT   NOT NULL,
    challenge    TEXT   NOT NULL,
    scopes       TEXT   NOT NULL,             -- JSON list of names
    code_hash    BYTEA  NOT NULL UNIQUE,
    family_hash  BYTEA  UNIQUE,               -- the part that all refresh tokens share; NULL until the code is used
    refresh_hash BYTEA,                       -- the part of the newest one
    expires_at   BIGINT NOT NULL              -- of the code, then of the refresh token
);
CREATE INDEX authorizations_expiry ON authorizations (expires_at);

-- A key that a person gave to a client is revoked with the key of that person.
CREATE VIEW keys_in_force AS
SELECT k.id, k.team_id, k.name, k.hint, k.hash, k.scopes, k.created_at, k.expires_at, k.last_used_at,
       coalesce(k.revoked_at, p.revoked_at) AS revoked_at
FROM api_keys k
LEFT JOIN authorizations a ON a.key_id = k.id
LEFT JOIN api_keys p ON p.id = a.approver_id;
