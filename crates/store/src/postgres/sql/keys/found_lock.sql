-- Whoever founds the first team does so alone.
SELECT pg_advisory_xact_lock(1735289200, 'teams'::regclass::oid::int)
