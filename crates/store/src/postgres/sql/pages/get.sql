SELECT url, final_url, status, content_type, headers, rung, fetched_at, gannet_now() - fetched_at AS age, body
FROM pages
WHERE team_id = $1 AND key = $2 AND expires_at > gannet_now()
