//! Looking at crawls and their documents. Reads only; never waits for the writer.

use super::super::SqliteStore;
use crate::crawls::{Crawl, CrawlKind, CrawlState, KeptDocument, Turn};
use crate::ledger::numbers::kind_number;
use crate::ledger::rows as ledger_rows;
use crate::rows::Columns;
use crate::{Millis, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

pub(super) async fn crawl(store: &SqliteStore, team: Uuid, crawl: Uuid) -> StoreResult<Option<Crawl>> {
    let row = sqlx::query(include_str!("../sql/crawls/crawl.sql"))
        .bind(crawl)
        .bind(clock::now())
        .bind(team)
        .fetch_optional(&store.readers)
        .await?;
    row.as_ref().map(ledger_rows::crawl).transpose()
}

pub(super) async fn for_work(store: &SqliteStore, crawl: Uuid) -> StoreResult<Option<Crawl>> {
    let row = sqlx::query(include_str!("../sql/crawls/for_work.sql"))
        .bind(crawl)
        .bind(clock::now())
        .fetch_optional(&store.readers)
        .await?;
    row.as_ref().map(ledger_rows::crawl).transpose()
}

pub(super) async fn active(
    store: &SqliteStore,
    team: Uuid,
    kind: CrawlKind,
    limit: u32,
) -> StoreResult<Vec<Crawl>> {
    let found = sqlx::query(include_str!("../sql/crawls/active.sql"))
        .bind(team)
        .bind(clock::now())
        .bind(kind_number(kind))
        .bind(i64::from(limit))
        .fetch_all(&store.readers)
        .await?;
    found.iter().map(ledger_rows::crawl).collect()
}

pub(super) async fn overdue(store: &SqliteStore, limit: u32) -> StoreResult<Vec<Crawl>> {
    let found = sqlx::query(include_str!("../sql/crawls/overdue.sql"))
        .bind(i64::from(limit))
        .bind(clock::now())
        .fetch_all(&store.readers)
        .await?;
    found.iter().map(ledger_rows::crawl).collect()
}

pub(super) async fn unsettled(store: &SqliteStore, limit: u32) -> StoreResult<Vec<Uuid>> {
    let found = sqlx::query(include_str!("../sql/crawls/unsettled.sql"))
        .bind(i64::from(limit))
        .fetch_all(&store.readers)
        .await?;
    found.iter().map(|row| row.id("id")).collect()
}

pub(super) async fn turn(
    store: &SqliteStore,
    crawl: Uuid,
    limit: u32,
    patience: Duration,
) -> StoreResult<Option<Turn>> {
    // One view of all: counters, memory and entries belong to the same version.
    let mut tx = store.readers.begin().await?;
    let now = clock::now();
    let row = sqlx::query(include_str!("../sql/crawls/for_work.sql"))
        .bind(crawl)
        .bind(now)
        .fetch_optional(&mut *tx)
        .await?;
    let Some(crawl) = row.as_ref().map(ledger_rows::crawl).transpose()? else { return Ok(None) };
    if crawl.state != CrawlState::Active {
        return Ok(None);
    }
    let waited_for_since = match crawl.kind {
        CrawlKind::Crawl => now - clock::millis(patience),
        // Nothing is ever waited for.
        CrawlKind::Batch => Millis::MAX,
    };
    let memory = sqlx::query(include_str!("../sql/crawls/memory.sql"))
        .bind(crawl.id)
        .fetch_one(&mut *tx)
        .await?
        .bytes_or_none("memory")?;
    let fetched = sqlx::query(include_str!("../sql/crawls/turn.sql"))
        .bind(crawl.id)
        .bind(waited_for_since)
        .bind(i64::from(limit))
        .fetch_all(&mut *tx)
        .await?;
    let fetched = fetched.iter().map(ledger_rows::fetched).collect::<StoreResult<_>>()?;
    Ok(Some(Turn { crawl, memory, fetched }))
}

pub(super) async fn documents(
    store: &SqliteStore,
    crawl: Uuid,
    after: u64,
    limit: u32,
    most_bytes: u64,
) -> StoreResult<Vec<KeptDocument>> {
    let found = sqlx::query(include_str!("../sql/crawls/documents.sql"))
        .bind(crawl)
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .bind(i64::from(limit))
        .bind(i64::try_from(most_bytes).unwrap_or(i64::MAX))
        .fetch_all(&store.readers)
        .await?;
    let mut documents = found.iter().map(ledger_rows::document).collect::<StoreResult<Vec<_>>>()?;
    documents.sort_unstable_by_key(|document| document.number);
    Ok(documents)
}
