SELECT id, name, plan, zero_data_retention, created_at FROM teams ORDER BY created_at, id
