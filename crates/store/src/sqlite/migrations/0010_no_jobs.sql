-- The job queue of the first version. Nothing but rehearsals used it; crawls, agent runs and webhooks have queues of their own.
DROP TABLE job_rows;
DROP TABLE jobs;
