SELECT private FROM crawls WHERE id = ?1
