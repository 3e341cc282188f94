//! What a worker says about entries it holds: still on them, or done with the attempts.

use super::super::PostgresStore;
use super::lock_live;
use crate::crawls::{AttemptEnd, EntryLease, EntryState};
use crate::ledger::progress::Moves;
use crate::pages::NewPage;
use crate::rows::Columns;
use crate::search::NewSearchPage;
use crate::sql::crawls::progress::count_moves;
use crate::sql::{SqlConnection, Transaction, pages, search};
use crate::text::storable_or_none;
use crate::work::LeaseStatus;
use crate::{StoreResult, clock, weight};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn lease(row: &impl Columns) -> StoreResult<EntryLease> {
    let (crawl, owner) = (row.id("crawl_id")?, row.id("lease_owner")?);
    Ok(EntryLease { crawl, seq: row.count("seq")?, owner, number: row.count("lease_number")? })
}

pub(super) async fn keep(
    store: &PostgresStore,
    leases: &[EntryLease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    if leases.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.change_ledger().await?;
    let live = lock_live(&mut tx, leases.iter().map(|lease| lease.crawl).collect()).await?;
    let of_live: Vec<EntryLease> =
        leases.iter().copied().filter(|lease| live.contains_key(&lease.crawl)).collect();
    let kept = tx
        .batch("crawls.keep", &of_live)
        .column(|lease| lease.crawl)
        .column(|lease| signed(lease.seq))
        .column(|lease| lease.owner)
        .column(|lease| signed(lease.number))
        .bind(clock::millis(lease_for))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let held = kept.iter().map(lease).collect::<StoreResult<HashSet<_>>>()?;
    let status = |lease| if held.contains(lease) { LeaseStatus::Held } else { LeaseStatus::Lost };
    Ok(leases.iter().map(status).collect())
}

/// The end of an attempt as it is written, and its place among those of the call.
struct Ending<'a> {
    place: usize,
    lease: EntryLease,
    end: &'a AttemptEnd,
}

impl Ending<'_> {
    fn state(&self) -> EntryState {
        match self.end {
            AttemptEnd::Fetched { .. } => EntryState::Fetched,
            AttemptEnd::Retry { .. } | AttemptEnd::HandBack | AttemptEnd::Postponed { .. } => {
                EntryState::Queued
            }
        }
    }

    fn is_uncounted(&self) -> bool {
        matches!(self.end, AttemptEnd::HandBack | AttemptEnd::Postponed { .. })
    }

    /// When it may run again; without one it keeps its time.
    fn delay(&self) -> Option<i64> {
        match self.end {
            AttemptEnd::Retry { delay, .. } | AttemptEnd::Postponed { delay } => Some(clock::millis(*delay)),
            AttemptEnd::Fetched { .. } | AttemptEnd::HandBack => None,
        }
    }

    fn error(&self) -> Option<&String> {
        match self.end {
            AttemptEnd::Retry { error, .. } => Some(error),
            _ => None,
        }
    }

    fn outcome(&self) -> Option<&[u8]> {
        match self.end {
            AttemptEnd::Fetched { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    fn page(&self) -> Option<&NewPage> {
        match self.end {
            AttemptEnd::Fetched { page, .. } => page.as_ref(),
            _ => None,
        }
    }

    fn search(&self) -> Option<&NewSearchPage> {
        match self.end {
            AttemptEnd::Fetched { search, .. } => search.as_ref(),
            _ => None,
        }
    }

    fn document(&self) -> Option<&[u8]> {
        match self.end {
            AttemptEnd::Fetched { document, .. } => document.as_deref(),
            _ => None,
        }
    }
}

pub(super) async fn end(store: &PostgresStore, ends: &[(EntryLease, AttemptEnd)]) -> StoreResult<Vec<bool>> {
    if ends.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.change_ledger().await?;
    let live = lock_live(&mut tx, ends.iter().map(|(lease, _)| lease.crawl).collect()).await?;
    // The first word about an attempt counts: after it the lease is gone.
    let mut spoken = HashSet::with_capacity(ends.len());
    let endings: Vec<Ending<'_>> = ends
        .iter()
        .enumerate()
        .filter(|(_, (lease, _))| live.contains_key(&lease.crawl) && spoken.insert(*lease))
        .map(|(place, (lease, end))| Ending { place, lease: *lease, end })
        .collect();
    let ended = tx
        .batch("crawls.end_attempts", &endings)
        .column(|one| one.lease.crawl)
        .column(|one| signed(one.lease.seq))
        .column(|one| one.lease.owner)
        .column(|one| signed(one.lease.number))
        .column(|one| if one.outcome().is_some() { 2_i64 } else { 0 })
        .column(|one| i64::from(one.is_uncounted()))
        .column(Ending::delay)
        .column(|one| storable_or_none(one.error()))
        .column(|one| one.outcome())
        .column(|one| one.document())
        .fetch_all(&mut tx)
        .await?;
    let lists: HashMap<EntryLease, bool> =
        ended.iter().map(|row| Ok((lease(row)?, row.flag("is_lists")?))).collect::<StoreResult<_>>()?;
    let mut held = vec![false; ends.len()];
    let mut moves: BTreeMap<Uuid, Moves> = BTreeMap::new();
    let (mut pages, mut found) = (Vec::new(), Vec::new());
    for one in &endings {
        if let Some(is_lists) = lists.get(&one.lease) {
            held[one.place] = true;
            let team = live.get(&one.lease.crawl).filter(|crawl| !crawl.private).map(|crawl| crawl.team);
            pages.extend(team.zip(one.page()));
            found.extend(team.zip(one.search()));
            let moved = moves.entry(one.lease.crawl).or_default();
            moved.stored += weight::length(one.document().map_or(0, <[u8]>::len));
            moved.add(*is_lists, EntryState::Running, one.state());
        }
    }
    count_moves(&mut tx, &moves).await?;
    pages::put_in(&mut tx, pages).await?;
    search::put_in(&mut tx, found).await?;
    if moves.values().any(Moves::queue) {
        tx.announce().await?;
    }
    tx.commit().await?;
    Ok(held)
}
