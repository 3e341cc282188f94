UPDATE jobs SET row_count = row_count + $2 WHERE id = $1 RETURNING row_count
