//! What is done in a way of its own on PostgreSQL with the ledger of crawls: claims over many processes, ends
//! of attempts, and batches as arrays. The rest is in [`crate::sql::crawls`].

mod attempts;
mod claim;
mod pace;

use super::PostgresStore;
use super::retrying::Tx;
use crate::StoreResult;
use crate::crawls::{AttemptEnd, ClaimedEntry, EntryClaim, EntryLease, Pace};
use crate::ledger::decisions::Judged;
use crate::ledger::new_entries::NewLine;
use crate::rows::Columns;
use crate::sql::SqlConnection;
use crate::sql::crawls::CrawlBackend;
use crate::text::storable;
use crate::work::LeaseStatus;
use sqlx::{AssertSqlSafe, SqlSafeStr};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use uuid::Uuid;

/// Every statement about the ledger goes by an index, whatever statistics say. Its tables fill and empty
/// faster than these are gathered, and a plan that was made when a table was empty is kept while it grows.
pub(super) const BY_INDEX: &str =
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

impl PostgresStore {
    async fn change_ledger(&self) -> StoreResult<Tx> {
        Ok(self.pool.begin(AssertSqlSafe(self.begin_ledger.clone()).into_sql_str()).await?)
    }
}

/// A live crawl that the current transaction has locked.
#[derive(Debug, Clone, Copy)]
struct Live {
    pub team: Uuid,
    pub private: bool,
}

/// Locks those of the crawls that are live, in the order of ids.
async fn lock_live(tx: &mut Tx, crawls: BTreeSet<Uuid>) -> StoreResult<HashMap<Uuid, Live>> {
    let crawls: Vec<Uuid> = crawls.into_iter().collect();
    let live = tx.query("crawls.lock_live").bind_list(crawls).fetch_all(tx).await?;
    live.iter()
        .map(|row| Ok((row.id("id")?, Live { team: row.id("team_id")?, private: row.flag("private")? })))
        .collect()
}

impl CrawlBackend for PostgresStore {
    async fn begin_ledger(&self) -> StoreResult<Tx> {
        self.change_ledger().await
    }

    async fn view_ledger(&self) -> StoreResult<Tx> {
        Ok(self.pool.begin(AssertSqlSafe(self.view_ledger.clone()).into_sql_str()).await?)
    }

    async fn claim(&self, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
        claim::claim(self, request).await
    }

    async fn keep(&self, leases: &[EntryLease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>> {
        attempts::keep(self, leases, lease_for).await
    }

    async fn end(&self, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>> {
        attempts::end(self, &ends).await
    }

    async fn pace(&self, host: &str, pace: Pace) -> StoreResult<()> {
        pace::set(self, host, pace).await
    }

    async fn insert_entries(&self, tx: &mut Tx, crawl: Uuid, lines: &[NewLine<'_>]) -> StoreResult<()> {
        tx.batch("crawls.entries_insert", lines)
            .bind(crawl)
            .column(|line| line.seq)
            .column(|line| &line.entry.key[..])
            .column(NewLine::state)
            .column(NewLine::is_lists)
            .column(|line| i64::from(line.entry.depth))
            .column(|line| storable(&line.entry.url))
            .column(|line| storable(&line.entry.host))
            .column(|line| line.reason().map(storable))
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn write_decisions(&self, tx: &mut Tx, crawl: Uuid, judged: Judged<'_>) -> StoreResult<()> {
        tx.batch("crawls.settle", &judged.lines)
            .bind(crawl)
            .column(|line| line.seq)
            .column(|line| line.state)
            .column(|line| line.number)
            .column(|line| line.document_bytes)
            .column(|line| line.reason.map(storable))
            .bind_list(&judged.dropped)
            .execute(tx)
            .await?;
        Ok(())
    }

    async fn crawls_were_purged(&self, _private: bool, _nothing_left: bool) -> StoreResult<()> {
        Ok(())
    }
}
