INSERT INTO teams (id, name, plan, zero_data_retention, created_at)
VALUES ($1, $2, $3, $4, gannet_now())
RETURNING id, name, plan, zero_data_retention, created_at
