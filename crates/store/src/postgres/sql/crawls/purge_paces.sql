-- A host that was neither told of nor asked for a day; its pause is over too.
DELETE FROM host_paces
WHERE host IN (
    SELECT host FROM host_paces
    WHERE set_at <= gannet_now() - 86400000 AND started_at <= gannet_now() - 86400000 AND paused_until <= gannet_now()
    ORDER BY set_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
