SELECT id, gannet_now() AS now, $1 >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead FROM search_feed
