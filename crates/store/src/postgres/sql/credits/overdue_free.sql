-- Asked after the lock, with a fresh view: a job may have been accepted with it just now.
SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE reservation = $1 AND state <= 2) AS free
