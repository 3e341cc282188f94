UPDATE search_feed SET last = last + ?1 RETURNING last
