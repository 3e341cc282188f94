//! Looking at crawls. Reads only, and takes no lock.

use super::super::PostgresStore;
use crate::StoreResult;
use crate::crawls::{Crawl, CrawlKind, Entry, EntryState, KeptDocument};
use crate::ledger::numbers::{kind_number, rows_that_read};
use crate::ledger::rows;
use uuid::Uuid;

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) async fn crawl(
    store: &PostgresStore,
    team: Option<Uuid>,
    crawl: Uuid,
) -> StoreResult<Option<Crawl>> {
    let row = sqlx::query(include_str!("../sql/crawls/crawl.sql"))
        .bind(crawl)
        .bind(team)
        .fetch_optional(&store.pool)
        .await?;
    row.as_ref().map(rows::crawl).transpose()
}

pub(super) async fn active(
    store: &PostgresStore,
    team: Uuid,
    kind: CrawlKind,
    limit: u32,
) -> StoreResult<Vec<Crawl>> {
    let found = sqlx::query(include_str!("../sql/crawls/active.sql"))
        .bind(team)
        .bind(kind_number(kind))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::crawl).collect()
}

pub(super) async fn overdue(store: &PostgresStore, limit: u32) -> StoreResult<Vec<Crawl>> {
    let found = sqlx::query(include_str!("../sql/crawls/overdue.sql"))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::crawl).collect()
}

pub(super) async fn documents(
    store: &PostgresStore,
    crawl: Uuid,
    after: u64,
    limit: u32,
    most_bytes: u64,
) -> StoreResult<Vec<KeptDocument>> {
    let mut tx = store.view_ledger().await?;
    let found = sqlx::query(include_str!("../sql/crawls/documents.sql"))
        .bind(crawl)
        .bind(signed(after))
        .bind(i64::from(limit))
        .bind(signed(most_bytes))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    found.iter().map(rows::document).collect()
}

pub(super) async fn entries(
    store: &PostgresStore,
    crawl: Uuid,
    state: Option<EntryState>,
    after: u64,
    limit: u32,
) -> StoreResult<Vec<Entry>> {
    // One view of the crawl and its entries: its end decides how they read.
    let mut tx = store.view_ledger().await?;
    let row =
        sqlx::query(include_str!("../sql/crawls/stands.sql")).bind(crawl).fetch_optional(&mut tx).await?;
    let Some(row) = row else { return Ok(Vec::new()) };
    let standing = rows::standing(&row)?;
    let states = state.map_or_else(|| (0..=5).collect(), |state| rows_that_read(state, standing.state));
    let query = match states.as_slice() {
        [] => return Ok(Vec::new()),
        [one] => sqlx::query(include_str!("../sql/crawls/entries_of_state.sql"))
            .bind(crawl)
            .bind(signed(after))
            .bind(*one),
        _ => sqlx::query(include_str!("../sql/crawls/entries.sql"))
            .bind(crawl)
            .bind(signed(after))
            .bind(states),
    };
    let found = query.bind(i64::from(limit)).fetch_all(&mut tx).await?;
    tx.commit().await?;
    found.iter().map(|row| rows::entry(row, &standing)).collect()
}
