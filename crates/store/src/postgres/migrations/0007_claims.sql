-- A claimed key knows what it was claimed for, and whether that was done.
-- `resource` is the id of the scrape, crawl, batch or run; a key that was claimed by an older version has none.
-- While `done` is false the work goes on: `expires_at` is then the time at which the claim lapses, should nobody finish it.
ALTER TABLE claims ADD COLUMN resource UUID, ADD COLUMN done BOOLEAN NOT NULL DEFAULT TRUE;
