-- An update that changes nothing holds the row until the end of the transaction.
INSERT INTO delivery_subjects AS s (subject, due_at, held)
SELECT n.subject, gannet_now(), FALSE FROM unnest($1::uuid[]) AS n (subject)
ON CONFLICT (subject) DO UPDATE SET held = s.held
