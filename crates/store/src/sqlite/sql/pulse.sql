UPDATE pulse SET at = ?1 WHERE one = 1
