SELECT c.id, c.team_id, t.plan, c.running + c.lists_running AS busy, c.startable,
       max(0, coalesce(c.most_documents, 1000000000000) - c.completed - c.running - c.fetched) AS pages,
       c.gap, c.look_from
FROM crawls c
JOIN teams t ON t.id = c.team_id
WHERE c.startable > 0 AND c.next_at <= ?1
ORDER BY c.next_at
LIMIT ?2
