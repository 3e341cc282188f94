-- Whether some have expired and are still to be deleted.
SELECT EXISTS (SELECT 1 FROM agent_runs WHERE expires_at <= gannet_now()) AS pending
