-- Claims take turns: that keeps slots, paces and fairness exact over all processes. Nothing else waits for this
-- lock, it ends with the transaction, and it works behind a transaction pooler. A claim does not wait for the disk
-- either: when the server crashes before it is there, the entries are queued as before and the leases are lost.
SELECT set_config('synchronous_commit', 'off', TRUE),
       pg_advisory_xact_lock(1735289201, 'entries'::regclass::oid::int)
