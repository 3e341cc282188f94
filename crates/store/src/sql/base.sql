-- What belongs to no entity.

-- name: now (postgres)
SELECT gannet_now() AS now

-- name: notify (postgres)
SELECT pg_notify('gannet_work', '')

-- name: stored_bytes (sqlite)
SELECT bytes FROM stored_bytes WHERE kind = $1

-- name: stored_bytes (postgres)
SELECT (
    (SELECT bytes FROM stored_bytes WHERE kind = $1)
    + (SELECT coalesce(sum(bytes), 0) FROM stored_changes WHERE kind = $1)
)::bigint AS bytes

-- name: fold_stored_bytes (postgres)
WITH folded AS (
    DELETE FROM stored_changes
    WHERE id IN (SELECT id FROM stored_changes WHERE kind = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING bytes
)
UPDATE stored_bytes SET bytes = bytes + (SELECT coalesce(sum(f.bytes), 0) FROM folded f) WHERE kind = $1

-- name: schema_version
SELECT coalesce(max(version), 0)::bigint AS version FROM schema_migrations

-- name: write_check (sqlite)
UPDATE write_check SET written_at = gannet_now() WHERE id = 1

-- name: reusable (sqlite)
-- Pages of the file that hold nothing any more.
SELECT freelist_count * page_size AS bytes FROM pragma_freelist_count(), pragma_page_size()

-- name: size (postgres)
SELECT pg_database_size(current_database()) AS bytes

-- name: writable (postgres)
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only
