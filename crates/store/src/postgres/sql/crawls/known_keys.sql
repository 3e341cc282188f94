-- How rows are found: see settle.sql.
SELECT w.key
FROM unnest($2::bytea[]) AS w (key)
WHERE (SELECT TRUE FROM entries x WHERE x.crawl_id = $1 AND x.key = w.key)
