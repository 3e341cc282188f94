SELECT coalesce(sum(bytes), 0) FROM object_totals
