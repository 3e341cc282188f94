WITH folded AS (
    DELETE FROM stored_changes
    WHERE id IN (SELECT id FROM stored_changes WHERE kind = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING bytes
)
UPDATE stored_bytes SET bytes = bytes + (SELECT coalesce(sum(f.bytes), 0) FROM folded f) WHERE kind = $1
