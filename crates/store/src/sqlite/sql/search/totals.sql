SELECT collection, count(*) AS pages, sum(bytes) AS bytes
FROM search_pages
WHERE document IS NOT NULL
GROUP BY collection
ORDER BY collection
