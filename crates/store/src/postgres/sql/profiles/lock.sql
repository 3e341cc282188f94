-- Acquiring takes turns per team, so that the count of its profiles holds; the lock goes with the transaction.
SELECT pg_advisory_xact_lock(1735289203, hashtext($1::text))
