DELETE FROM profiles
WHERE rowid IN (
    SELECT rowid FROM profiles
    WHERE lease_until <= ?1 AND (used_at <= ?2 OR state IS NULL)
    ORDER BY used_at
    LIMIT ?3
)
