//! What is past its keeping.

use super::super::SqliteStore;
use crate::{StoreResult, clock};

/// Each call is one short transaction: a huge crawl must not hold the only writer while it goes.
pub(super) async fn purge(store: &SqliteStore, limit: u32) -> StoreResult<u64> {
    let mut tx = store.write().await?;
    let now = clock::now();
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
    tx.commit().await?;
    Ok(u64::from(limit) - left)
}
