-- How long a request took, in milliseconds. Crawls and runs know it from their own times.

ALTER TABLE activity ADD COLUMN took INTEGER;
