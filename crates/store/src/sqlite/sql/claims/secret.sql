SELECT secret FROM secrets WHERE name = ?1
