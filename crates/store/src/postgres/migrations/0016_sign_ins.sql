-- Sign-ins of people who use the dashboard: a browser holds a random token, the row its hash and the key it acts as.

CREATE TABLE sign_ins (
    hash       BYTEA  NOT NULL PRIMARY KEY,
    key_id     UUID   NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sign_ins_key ON sign_ins (key_id, expires_at);
CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);
