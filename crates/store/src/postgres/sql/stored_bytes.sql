SELECT (
    (SELECT bytes FROM stored_bytes WHERE kind = $1)
    + (SELECT coalesce(sum(bytes), 0) FROM stored_changes WHERE kind = $1)
)::bigint AS bytes
