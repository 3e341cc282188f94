UPDATE host_paces SET started_at = ?2 WHERE host IN (SELECT value FROM json_each(?1))
