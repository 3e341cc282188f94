SELECT seq, team_id, collection, key, seen_at, document FROM search_pages WHERE seq > ?1 ORDER BY seq LIMIT ?2
