SELECT e.seq, e.url, e.host, e.depth, e.is_lists, e.run_at,
       coalesce(max(p.started_at + p.gap, p.paused_until), 0) AS host_at,
       coalesce(p.gap, 0) AS host_gap
FROM entries e INDEXED BY entries_states
LEFT JOIN host_paces p ON p.host = e.host
WHERE e.crawl_id = ?1 AND e.state = 0 AND e.seq > ?2
ORDER BY e.seq
LIMIT ?3
