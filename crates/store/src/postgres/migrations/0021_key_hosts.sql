-- Hosts that a key may reach, where it may not reach all. They outlive the key: work that it began goes on.

CREATE TABLE key_hosts (
    key_id UUID NOT NULL PRIMARY KEY,
    hosts  TEXT NOT NULL -- JSON list of names and patterns
);
