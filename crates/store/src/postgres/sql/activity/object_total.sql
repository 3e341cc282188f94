SELECT coalesce(sum(bytes), 0)::bigint FROM object_totals
