//! What is past its keeping.

use super::super::SqliteStore;
use super::super::secrets::overwrite_freed_pages;
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::sync::atomic::Ordering;

/// Each call is one short transaction: a huge crawl must not hold the only writer while it goes.
pub(super) async fn purge(store: &SqliteStore, limit: u32) -> StoreResult<u64> {
    let mut tx = store.write().await?;
    let now = clock::now();
    let private =
        sqlx::query(include_str!("../sql/crawls/purge_private.sql")).bind(now).fetch_one(&mut *tx).await?;
    let private = private.flag("found")?;
    if private {
        overwrite_freed_pages(&mut tx, true).await?;
    }
    let mut left = u64::from(limit);
    for statement in [
        // First what makes it readable, so that nobody sees half a crawl.
        include_str!("../sql/crawls/purge_luggage.sql"),
        include_str!("../sql/crawls/purge_documents.sql"),
        include_str!("../sql/crawls/purge_outcomes.sql"),
        include_str!("../sql/crawls/purge_entries.sql"),
        include_str!("../sql/crawls/purge.sql"),
        include_str!("../sql/crawls/purge_paces.sql"),
    ] {
        let done = sqlx::query(statement).bind(now).bind(left.cast_signed()).execute(&mut *tx).await?;
        left = left.saturating_sub(done.rows_affected());
    }
    if private {
        overwrite_freed_pages(&mut tx, false).await?;
    }
    tx.commit().await?;
    if private {
        store.log_must_be_emptied.store(true, Ordering::Relaxed);
    }
    // Once, when nothing is left to delete; tried again in the next round when readers are in the way.
    if left > 0 && store.log_must_be_emptied.load(Ordering::Relaxed) && store.truncate_log().await? {
        store.log_must_be_emptied.store(false, Ordering::Relaxed);
    }
    Ok(u64::from(limit) - left)
}
