-- Pages of the file that hold nothing any more.
SELECT freelist_count * page_size AS bytes FROM pragma_freelist_count(), pragma_page_size()
