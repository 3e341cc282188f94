CREATE TABLE IF NOT EXISTS schema_migrations (
    version    BIGINT  NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    applied_at BIGINT  NOT NULL
)
