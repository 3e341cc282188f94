SELECT id, last < ?1 AS ahead FROM search_feed
