-- Claims take turns: that keeps slots and fairness exact over all processes. It ends with the transaction.
SELECT pg_advisory_xact_lock(1735289201, 'agent_runs'::regclass::oid::int), gannet_now() AS now
