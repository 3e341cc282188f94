//! Entries: written when they are found, looked up by their keys, read as lines of the ledger.

use super::super::{SqliteStore, Tx, number_list};
use crate::crawls::{Entry, EntryKey, EntryState, KnownEntry, NewEntry};
use crate::ledger::intake::{self, NewLine};
use crate::ledger::numbers::rows_that_read;
use crate::ledger::rows as ledger_rows;
use crate::ledger::standing::Standing;
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use uuid::Uuid;

/// The most entries that one statement writes.
const AT_ONCE: usize = 1_000;

/// Keys as one argument: a JSON list of hex, which SQLite reads as a table.
fn key_list<'a>(keys: impl Iterator<Item = &'a EntryKey>) -> String {
    Value::from(keys.map(hex).collect::<Vec<_>>()).to_string()
}

fn hex(key: &EntryKey) -> String {
    key.iter().fold(String::with_capacity(32), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Writes those that are new, and counts them on the crawl; how many.
pub(super) async fn add(
    tx: &mut Tx,
    standing: &mut Standing,
    entries: &[NewEntry],
    now: Millis,
) -> StoreResult<u64> {
    if entries.is_empty() {
        return Ok(0);
    }
    let known = if standing.last_seq == 0 { HashSet::new() } else { known(tx, standing.id, entries).await? };
    let lines = intake::admit(standing, entries, known);
    for some in lines.chunks(AT_ONCE) {
        let list = Value::from(some.iter().map(line).collect::<Vec<_>>()).to_string();
        sqlx::query(include_str!("../sql/crawls/entries_insert.sql"))
            .bind(standing.id)
            .bind(list)
            .bind(now)
            .execute(&mut **tx)
            .await?;
    }
    Ok(lines.len() as u64)
}

async fn known(tx: &mut Tx, crawl: Uuid, entries: &[NewEntry]) -> StoreResult<HashSet<EntryKey>> {
    let unknown = sqlx::query(include_str!("../sql/crawls/unknown_keys.sql"))
        .bind(crawl)
        .bind(key_list(entries.iter().map(|entry| &entry.key)))
        .fetch_all(&mut **tx)
        .await?;
    let mut known: HashSet<EntryKey> = entries.iter().map(|entry| entry.key).collect();
    for row in &unknown {
        let place = usize::try_from(row.int("place")?).unwrap_or(usize::MAX);
        if let Some(entry) = entries.get(place) {
            known.remove(&entry.key);
        }
    }
    Ok(known)
}

fn line(new: &NewLine) -> Value {
    let entry = new.entry;
    json!([
        new.seq,
        hex(&entry.key),
        new.state(),
        i64::from(new.is_lists()),
        entry.depth,
        storable(&entry.url),
        storable(&entry.host),
        new.reason().map(storable),
    ])
}

pub(super) async fn by_key(
    store: &SqliteStore,
    crawl: Uuid,
    keys: &[EntryKey],
) -> StoreResult<Vec<Option<KnownEntry>>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let found = sqlx::query(include_str!("../sql/crawls/by_key.sql"))
        .bind(crawl)
        .bind(key_list(keys.iter()))
        .fetch_all(&store.readers)
        .await?;
    let known: HashMap<EntryKey, KnownEntry> = found
        .iter()
        .map(|row| Ok((intake::key(row.bytes("key")?)?, ledger_rows::known(row)?)))
        .collect::<StoreResult<_>>()?;
    Ok(keys.iter().map(|key| known.get(key).cloned()).collect())
}

pub(super) async fn lines(
    store: &SqliteStore,
    crawl: Uuid,
    state: Option<EntryState>,
    after: u64,
    limit: u32,
) -> StoreResult<Vec<Entry>> {
    // One view of the crawl and its entries: its end decides how they read.
    let mut tx = store.readers.begin().await?;
    let row =
        sqlx::query(include_str!("../sql/crawls/standing.sql")).bind(crawl).fetch_optional(&mut *tx).await?;
    let Some(row) = row else { return Ok(Vec::new()) };
    let standing = ledger_rows::standing(&row)?;
    let states = state.map_or_else(|| (0..=5).collect(), |state| rows_that_read(state, standing.state));
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let query = match states.as_slice() {
        [] => return Ok(Vec::new()),
        [one] => {
            sqlx::query(include_str!("../sql/crawls/entries_of_state.sql")).bind(crawl).bind(after).bind(*one)
        }
        _ => sqlx::query(include_str!("../sql/crawls/entries.sql"))
            .bind(crawl)
            .bind(after)
            .bind(number_list(states.iter().copied())),
    };
    let found = query.bind(i64::from(limit)).fetch_all(&mut *tx).await?;
    found.iter().map(|row| ledger_rows::entry(row, &standing)).collect()
}
