DELETE FROM webhook_secrets
WHERE rowid IN (SELECT rowid FROM webhook_secrets WHERE until IS NOT NULL AND until <= ?1 LIMIT ?2)
