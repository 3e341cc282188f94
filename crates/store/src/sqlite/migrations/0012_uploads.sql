-- Files that callers upload to be parsed later. The bytes are objects, the name and the type of a file stand in the
-- signed reference that its caller holds: nothing here tells what a file is about.

CREATE TABLE uploads (
    id         BLOB    NOT NULL PRIMARY KEY,
    team_id    BLOB    NOT NULL,
    state      INTEGER NOT NULL, -- 0 waits for its bytes, 1 has them, 2 was parsed
    object     BLOB,             -- which object has the bytes
    bytes      INTEGER NOT NULL, -- as declared while it waits
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_unparsed ON uploads (team_id) WHERE state < 2;
CREATE INDEX uploads_expiry ON uploads (expires_at);
