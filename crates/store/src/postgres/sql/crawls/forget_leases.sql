-- Of a crawl that has ended: its entries stay as they are, but no sweep looks at them again.
UPDATE entries SET lease_owner = NULL, lease_until = NULL WHERE crawl_id = $1 AND seq = ANY ($2) AND state = 1
