-- Asked after the lock, with a fresh view: a job, a crawl or a run may have been accepted with it just now.
SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE reservation = $1 AND state <= 2)
       AND NOT EXISTS (SELECT 1 FROM crawls WHERE reservation = $1 AND state = 0)
       AND NOT EXISTS (SELECT 1 FROM agent_runs WHERE reservation = $1 AND state <= 1) AS free
