-- Crawls that wait for a time; locked in the order of ids, as all lock them.
WITH patient AS MATERIALIZED (
    SELECT id FROM crawls WHERE has_startable AND next_at > gannet_now() ORDER BY id FOR NO KEY UPDATE
)
UPDATE crawls c SET next_at = c.not_before FROM patient p WHERE c.id = p.id
