DELETE FROM slots WHERE id = $1
