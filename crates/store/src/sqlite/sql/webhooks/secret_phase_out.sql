UPDATE webhook_secrets SET until = ?2 WHERE team_id = ?1 AND until IS NULL
