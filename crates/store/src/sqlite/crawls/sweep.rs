//! Entries whose workers went silent.

use super::super::SqliteStore;
use super::standing;
use crate::crawls::{CrawlState, CrawlSweep, EntryState};
use crate::ledger::numbers::{crawl_state, entry_state_number};
use crate::ledger::standing::Moves;
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The most entries that one sweep looks at.
const SWEEP_LIMIT: i64 = 500;

pub(super) async fn sweep(store: &SqliteStore, most_attempts: u32) -> StoreResult<CrawlSweep> {
    let mut tx = store.write().await?;
    let now = clock::now();
    let lost = sqlx::query(include_str!("../sql/crawls/lost.sql"))
        .bind(now)
        .bind(i64::from(most_attempts))
        .bind(SWEEP_LIMIT)
        .fetch_all(&mut *tx)
        .await?;
    let mut report = CrawlSweep::default();
    let mut moves: BTreeMap<Uuid, Moves> = BTreeMap::new();
    for row in &lost {
        let crawl = row.id("crawl_id")?;
        let state = if crawl_state(row.int("crawl_state")?)? != CrawlState::Active {
            // Over already: only its lease goes, so that it is not looked at again.
            EntryState::Running
        } else if row.flag("spent")? {
            report.abandoned += 1;
            EntryState::Fetched
        } else {
            report.requeued += 1;
            EntryState::Queued
        };
        sqlx::query(include_str!("../sql/crawls/take_back.sql"))
            .bind(crawl)
            .bind(row.int("seq")?)
            .bind(entry_state_number(state))
            .bind(now)
            .execute(&mut *tx)
            .await?;
        moves.entry(crawl).or_default().add(row.flag("is_lists")?, EntryState::Running, state);
    }
    for (crawl, moves) in moves.iter().filter(|(_, moves)| **moves != Moves::default()) {
        standing::moved(&mut tx, *crawl, moves).await?;
    }
    tx.commit().await?;
    store.wake_if(report != CrawlSweep::default());
    Ok(report)
}
