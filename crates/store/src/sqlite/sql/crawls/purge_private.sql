SELECT EXISTS (SELECT 1 FROM crawls WHERE private AND expires_at <= ?1) AS found
