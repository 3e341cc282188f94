-- Whoever counts what a team has waiting takes turns; the lock goes with the transaction.
SELECT pg_advisory_xact_lock(1735289204, hashtext($1::text))
