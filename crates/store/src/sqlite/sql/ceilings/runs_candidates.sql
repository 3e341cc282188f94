SELECT r.id,
       r.event_bytes + r.snapshot_bytes + octet_length(l.request) + coalesce(octet_length(l.artifact), 0)
           + coalesce(octet_length(l.result), 0) AS bytes
FROM agent_runs r
JOIN agent_luggage l ON l.run_id = r.id
WHERE r.expires_at > ?1 AND r.finished_at <= ?2
ORDER BY r.expires_at
LIMIT ?3
