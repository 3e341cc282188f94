//! What is done in a way of its own on SQLite with the ledger of crawls: claims by the one writer, and many
//! rows as JSON in one statement, since going to and from the writer costs more than the writing. The rest is
//! in [`crate::sql::crawls`].

mod attempts;
mod claim;

use super::{SqliteStore, Tx};
use crate::StoreResult;
use crate::crawls::{AttemptEnd, ClaimedEntry, EntryClaim, EntryLease, Pace};
use crate::ledger::decisions::Judged;
use crate::ledger::new_entries::NewLine;
use crate::sql::crawls::CrawlBackend;
use crate::sql::{SqlConnection, hex};
use crate::text::storable;
use crate::work::LeaseStatus;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use uuid::Uuid;

/// A row of a JSON list that a statement reads as a table.
fn entry_line(new: &NewLine<'_>) -> Value {
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

impl CrawlBackend for SqliteStore {
    async fn begin_ledger(&self) -> StoreResult<Tx> {
        self.write().await
    }

    async fn view_ledger(&self) -> StoreResult<Tx> {
        Ok(Tx(self.readers.begin().await?, None))
    }

    async fn claim(&self, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
        claim::claim(self, request).await
    }

    async fn keep(&self, leases: &[EntryLease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>> {
        attempts::keep(self, leases, lease_for).await
    }

    async fn end(&self, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>> {
        attempts::end(self, ends).await
    }

    async fn pace(&self, host: &str, pace: Pace) -> StoreResult<()> {
        claim::set_pace(self, host, pace).await
    }

    async fn insert_entries(&self, tx: &mut Tx, crawl: Uuid, lines: &[NewLine<'_>]) -> StoreResult<()> {
        let lines = Value::from(lines.iter().map(entry_line).collect::<Vec<_>>()).to_string();
        tx.query("crawls.entries_insert").bind(crawl).bind(lines).execute(tx).await?;
        Ok(())
    }

    async fn write_decisions(&self, tx: &mut Tx, crawl: Uuid, judged: Judged<'_>) -> StoreResult<()> {
        let lines = judged.lines.iter().map(|line| {
            json!([line.seq, line.state, line.number, line.document_bytes, line.reason.map(storable)])
        });
        let lines = Value::from(lines.collect::<Vec<_>>()).to_string();
        tx.query("crawls.settle").bind(crawl).bind(lines).execute(tx).await?;
        Ok(())
    }

    /// What was written of private rows may still be in the log. It is emptied once, when nothing is left to
    /// delete; tried again in the next round when readers are in the way.
    async fn crawls_were_purged(&self, private: bool, nothing_left: bool) -> StoreResult<()> {
        if private {
            self.log_must_be_emptied.store(true, Ordering::Relaxed);
        }
        let must_empty = nothing_left && self.log_must_be_emptied.load(Ordering::Relaxed);
        if must_empty && self.truncate_log().await? {
            self.log_must_be_emptied.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}
