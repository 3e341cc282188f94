SELECT url, final_url, status, content_type, headers, rung, fetched_at, ?3 - fetched_at AS age, body
FROM pages
WHERE team_id = ?1 AND key = ?2 AND expires_at > ?3
