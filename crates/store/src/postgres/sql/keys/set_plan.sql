UPDATE teams SET plan = $2 WHERE id = $1
