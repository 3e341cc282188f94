-- A claimed key knows what it was claimed for, and whether that was done.
-- `resource` is the id of the scrape, crawl, batch or run; a key that was claimed by an older version has none.
-- While `done` is 0 the work goes on: `expires_at` is then the time at which the claim lapses, should nobody finish it.
ALTER TABLE claims ADD COLUMN resource BLOB;
ALTER TABLE claims ADD COLUMN done INTEGER NOT NULL DEFAULT 1;
