//! Reading crawls, and what settlements read before they settle. Takes no lock: a settlement that read what
//! has changed since is refused by its version.

use super::super::{SqlConnection, Transaction};
use super::CrawlBackend;
use crate::crawls::{
    Crawl, CrawlDocument, CrawlKind, Entry, EntryKey, EntryState, KnownEntry, UnsettledCrawl,
};
use crate::ledger::numbers::{kind_number, rows_that_read};
use crate::ledger::{new_entries, rows};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreResult, clock};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) async fn crawl(
    store: &impl CrawlBackend,
    team: Option<Uuid>,
    crawl: Uuid,
) -> StoreResult<Option<Crawl>> {
    let row = store.query("crawls.crawl").bind(crawl).bind(team).fetch_optional(&mut store.reader()).await?;
    row.as_ref().map(rows::crawl).transpose()
}

pub(super) async fn active(
    store: &impl CrawlBackend,
    team: Uuid,
    kind: CrawlKind,
    limit: u32,
) -> StoreResult<Vec<Crawl>> {
    let found = store
        .query("crawls.active")
        .bind(team)
        .bind(kind_number(kind))
        .bind(i64::from(limit))
        .fetch_all(&mut store.reader())
        .await?;
    found.iter().map(rows::crawl).collect()
}

pub(super) async fn overdue(store: &impl CrawlBackend, limit: u32) -> StoreResult<Vec<Crawl>> {
    let found = store.query("crawls.overdue").bind(i64::from(limit)).fetch_all(&mut store.reader()).await?;
    found.iter().map(rows::crawl).collect()
}

pub(super) async fn host_gap(store: &impl CrawlBackend, host: &str) -> StoreResult<Duration> {
    let host = storable(host);
    let row = store.query("crawls.pace_gap").bind(&*host).fetch_optional(&mut store.reader()).await?;
    row.map_or(Ok(Duration::ZERO), |row| Ok(clock::span(row.int("gap")?)))
}

pub(super) async fn documents(
    store: &impl CrawlBackend,
    crawl: Uuid,
    after: u64,
    limit: u32,
    max_bytes: u64,
) -> StoreResult<Vec<CrawlDocument>> {
    let mut tx = store.view_ledger().await?;
    let found = tx
        .query("crawls.documents")
        .bind(crawl)
        .bind(signed(after))
        .bind(i64::from(limit))
        .bind(signed(max_bytes))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let mut documents = found.iter().map(rows::document).collect::<StoreResult<Vec<_>>>()?;
    documents.sort_unstable_by_key(|document| document.number);
    Ok(documents)
}

pub(super) async fn entries(
    store: &impl CrawlBackend,
    crawl: Uuid,
    state: Option<EntryState>,
    after: u64,
    limit: u32,
) -> StoreResult<Vec<Entry>> {
    // One view of the crawl and its entries: its end decides how they read.
    let mut tx = store.view_ledger().await?;
    let row = tx.query("crawls.progress_read").bind(crawl).fetch_optional(&mut tx).await?;
    let Some(row) = row else { return Ok(Vec::new()) };
    let progress = rows::progress(&row)?;
    let states = state.map_or_else(|| (0..=5).collect(), |state| rows_that_read(state, progress.state));
    let query = match states.as_slice() {
        [] => return Ok(Vec::new()),
        [one] => tx.query("crawls.entries_of_state").bind(crawl).bind(signed(after)).bind(*one),
        _ => tx.query("crawls.entries").bind(crawl).bind(signed(after)).bind_list(states),
    };
    let found = query.bind(i64::from(limit)).fetch_all(&mut tx).await?;
    tx.commit().await?;
    found.iter().map(|row| rows::entry(row, &progress)).collect()
}

pub(super) async fn unsettled_crawl(
    store: &impl CrawlBackend,
    crawl: Uuid,
    limit: u32,
    patience: Duration,
) -> StoreResult<Option<UnsettledCrawl>> {
    let mut tx = store.view_ledger().await?;
    let found = tx.query("crawls.settleable").bind(crawl).fetch_optional(&mut tx).await?;
    let Some(row) = found else { return Ok(None) };
    let (crawl, memory) = (rows::crawl(&row)?, row.bytes_or_none("settlement_memory")?);
    let fetched = tx
        .query("crawls.fetched")
        .bind(crawl.id)
        .bind(i64::from(limit))
        .bind(crawl.kind == CrawlKind::Batch)
        .bind(clock::millis(patience))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let fetched = fetched.iter().map(rows::fetched).collect::<StoreResult<Vec<_>>>()?;
    Ok(Some(UnsettledCrawl { crawl, memory, fetched }))
}

pub(super) async fn unsettled(store: &impl CrawlBackend, limit: u32) -> StoreResult<Vec<Uuid>> {
    let found = store.query("crawls.unsettled").bind(i64::from(limit)).fetch_all(&mut store.reader()).await?;
    found.iter().map(|row| row.id("id")).collect()
}

pub(super) async fn by_key(
    store: &impl CrawlBackend,
    crawl: Uuid,
    keys: &[EntryKey],
) -> StoreResult<Vec<Option<KnownEntry>>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.view_ledger().await?;
    let found = tx
        .query("crawls.by_key")
        .bind(crawl)
        .bind_list(keys.iter().map(|key| &key[..]).collect())
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let known: HashMap<EntryKey, KnownEntry> = found
        .iter()
        .map(|row| Ok((new_entries::key(row.bytes("key")?)?, rows::known(row)?)))
        .collect::<StoreResult<_>>()?;
    Ok(keys.iter().map(|key| known.get(key).cloned()).collect())
}
