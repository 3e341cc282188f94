//! What settlements look at before they settle. Reads only, and takes no lock: a settlement that looked at what has
//! changed since is refused by its version.

use super::super::PostgresStore;
use crate::crawls::{CrawlKind, EntryKey, KnownEntry, Turn};
use crate::ledger::{intake, rows};
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

pub(super) async fn turn(
    store: &PostgresStore,
    crawl: Uuid,
    limit: u32,
    patience: Duration,
) -> StoreResult<Option<Turn>> {
    let mut tx = store.view_ledger().await?;
    let found =
        sqlx::query(include_str!("../sql/crawls/turn.sql")).bind(crawl).fetch_optional(&mut tx).await?;
    let Some(row) = found else { return Ok(None) };
    let (crawl, memory) = (rows::crawl(&row)?, row.bytes_or_none("memory")?);
    let fetched = sqlx::query(include_str!("../sql/crawls/fetched.sql"))
        .bind(crawl.id)
        .bind(i64::from(limit))
        .bind(crawl.kind == CrawlKind::Batch)
        .bind(clock::millis(patience))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let fetched = fetched.iter().map(rows::fetched).collect::<StoreResult<Vec<_>>>()?;
    Ok(Some(Turn { crawl, memory, fetched }))
}

pub(super) async fn unsettled(store: &PostgresStore, limit: u32) -> StoreResult<Vec<Uuid>> {
    let found = sqlx::query(include_str!("../sql/crawls/unsettled.sql"))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(|row| row.id("id")).collect()
}

pub(super) async fn by_key(
    store: &PostgresStore,
    crawl: Uuid,
    keys: &[EntryKey],
) -> StoreResult<Vec<Option<KnownEntry>>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.view_ledger().await?;
    let found = sqlx::query(include_str!("../sql/crawls/by_key.sql"))
        .bind(crawl)
        .bind(keys.iter().map(|key| &key[..]).collect::<Vec<_>>())
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let known: HashMap<EntryKey, KnownEntry> = found
        .iter()
        .map(|row| Ok((intake::key(row.bytes("key")?)?, rows::known(row)?)))
        .collect::<StoreResult<_>>()?;
    Ok(keys.iter().map(|key| known.get(key).cloned()).collect())
}
