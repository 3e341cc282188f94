-- Acquiring takes turns per team; the lock goes with the transaction.
SELECT pg_advisory_xact_lock(1735289202, hashtext($1::text))
