-- One number for all of Gannet: migrations of two schemas in one database merely take turns.
SELECT pg_advisory_xact_lock(1735289199)
