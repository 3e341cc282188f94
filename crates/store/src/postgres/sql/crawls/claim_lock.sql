-- Claims take turns: that keeps slots, paces and fairness exact over all processes. Nothing else waits for this
-- lock, it ends with the transaction, and it works behind a transaction pooler.
SELECT pg_advisory_xact_lock(1735289201, 'entries'::regclass::oid::int)
