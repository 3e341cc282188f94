-- Files that callers upload to be parsed later. The bytes are objects, the name and the type of a file stand in the
-- signed reference that its caller holds: nothing here tells what a file is about.

CREATE TABLE uploads (
    id         UUID   NOT NULL PRIMARY KEY,
    team_id    UUID   NOT NULL,
    state      BIGINT NOT NULL, -- 0 waits for its bytes, 1 has them, 2 was parsed
    object     UUID,            -- which object has the bytes
    bytes      BIGINT NOT NULL, -- as declared while it waits
    expires_at BIGINT NOT NULL
);
CREATE INDEX uploads_unparsed ON uploads (team_id) WHERE state < 2;
CREATE INDEX uploads_expiry ON uploads (expires_at);
