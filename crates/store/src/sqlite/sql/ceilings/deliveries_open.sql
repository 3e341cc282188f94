-- Of the team that has the most. Looks at every row, which happens only when there are far too many.
SELECT number, octet_length(body) + octet_length(target) + 256 AS bytes
FROM deliveries
WHERE given_up_at IS NULL
  AND team_id = (
      SELECT team_id FROM deliveries WHERE given_up_at IS NULL
      GROUP BY team_id
      ORDER BY sum(octet_length(body) + octet_length(target)) DESC
      LIMIT 1
  )
ORDER BY number
LIMIT ?1
