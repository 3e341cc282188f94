SELECT id, name, plan, zero_data_retention, created_at FROM teams WHERE id = $1
