//! Handing out entries. The one writer makes counting slots and taking them one step.

use super::super::{SqliteStore, Tx};
use crate::crawls::{ClaimedEntry, EntryClaim, EntryLease, EntryState, Pace};
use crate::ledger::choose::{Candidate, MAX_CANDIDATE_CRAWLS, Round};
use crate::ledger::progress::Moves;
use crate::ledger::rows as ledger_rows;
use crate::ledger::scan::{QueueScan, QueuedEntry};
use crate::rows::Columns;
use crate::sql::SqlConnection;
use crate::text::storable;
use crate::{Millis, StoreError, StoreResult, clock};
use std::collections::HashMap;
use uuid::Uuid;

pub(super) async fn claim(store: &SqliteStore, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let now = clock::now();
    let crawls = candidates(&mut tx, now).await?;
    if crawls.is_empty() {
        return Ok(Vec::new());
    }
    let mut round = Round::new(request, busy(&mut tx).await?, crawls);
    let mut claimed = Vec::new();
    loop {
        let shares = round.shares();
        if shares.is_empty() {
            break;
        }
        for (place, share) in shares {
            let before = claimed.len();
            take_entries(&mut tx, round.candidate(place), share, request, now, &mut claimed).await?;
            let got = u32::try_from(claimed.len() - before).unwrap_or(share);
            round.took(place, share, got);
        }
    }
    tx.commit().await?;
    Ok(claimed)
}

async fn candidates(tx: &mut Tx, now: Millis) -> StoreResult<Vec<Candidate>> {
    let found = tx.query("crawls.candidates").bind(now).bind(MAX_CANDIDATE_CRAWLS).fetch_all(tx).await?;
    found.iter().map(ledger_rows::candidate).collect()
}

async fn busy(tx: &mut Tx) -> StoreResult<HashMap<Uuid, u64>> {
    let found = tx.query("crawls.busy").fetch_all(tx).await?;
    found.iter().map(|row| Ok((row.id("team_id")?, row.count("busy")?))).collect()
}

/// Takes up to `share` entries of one crawl.
async fn take_entries(
    tx: &mut Tx,
    crawl: &Candidate,
    share: u32,
    request: &EntryClaim,
    now: Millis,
    claimed: &mut Vec<ClaimedEntry>,
) -> StoreResult<()> {
    let mut scan = QueueScan::new(share, crawl.pages, crawl.scan_from, now);
    let first = window(tx, crawl.crawl, 0, share as usize).await?;
    if !scan.take_first(first) {
        let front = window(tx, crawl.crawl, 0, scan.window()).await?;
        if let Some(from) = scan.front(front) {
            let behind = window(tx, crawl.crawl, from, scan.window()).await?;
            scan.behind(from, behind);
        }
    }
    if !scan.paced.is_empty() {
        let hosts: Vec<String> = scan.paced.iter().cloned().collect();
        tx.query("crawls.paces_started").bind_list(hosts).execute(tx).await?;
    }
    note_scan(tx, crawl, &scan, now).await?;
    if scan.taken.is_empty() {
        return Ok(());
    }
    let taken = tx
        .query("crawls.take")
        .bind(crawl.crawl)
        .bind_list(scan.taken.iter().map(|entry| entry.seq).collect())
        .bind(request.owner)
        .bind(now + clock::millis(request.lease_for))
        .bind(now)
        .fetch_all(tx)
        .await?;
    let mut leased: HashMap<i64, (u64, u32)> = taken
        .iter()
        .map(|row| Ok((row.int("seq")?, (row.count("lease_number")?, row.small("attempts")?))))
        .collect::<StoreResult<_>>()?;
    for entry in scan.taken {
        let (number, attempt) = leased
            .remove(&entry.seq)
            .ok_or_else(|| StoreError::Database("a queued entry could not be taken".into()))?;
        let seq = entry.seq.unsigned_abs();
        claimed.push(ClaimedEntry {
            lease: EntryLease { crawl: crawl.crawl, seq, owner: request.owner, number },
            team_id: crawl.team,
            url: entry.url,
            host: entry.host,
            depth: entry.depth,
            is_lists: entry.is_lists,
            attempt,
        });
    }
    Ok(())
}

async fn window(tx: &mut Tx, crawl: Uuid, after: i64, size: usize) -> StoreResult<Vec<QueuedEntry>> {
    let found = tx
        .query("crawls.window")
        .bind(crawl)
        .bind(after)
        .bind(i64::try_from(size).unwrap_or(i64::MAX))
        .fetch_all(tx)
        .await?;
    found.iter().map(ledger_rows::queued).collect()
}

/// Counts what starts, and writes down when the crawl is worth another look.
async fn note_scan(tx: &mut Tx, crawl: &Candidate, scan: &QueueScan, now: Millis) -> StoreResult<()> {
    let mut moves = Moves::default();
    for entry in &scan.taken {
        moves.add(entry.is_lists, EntryState::Queued, EntryState::Running);
    }
    let (scan_from, next_at) = scan.next();
    let gap_ends = crawl.gap.filter(|_| !scan.taken.is_empty()).map(|gap| now + gap);
    tx.query("crawls.scanned")
        .bind(crawl.crawl)
        .bind(moves.queued)
        .bind(moves.running)
        .bind(moves.lists_queued)
        .bind(moves.lists_running)
        .bind(gap_ends)
        .bind(next_at)
        .bind(scan_from)
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn set_pace(store: &SqliteStore, host: &str, pace: Pace) -> StoreResult<()> {
    let mut tx = store.write().await?;
    let now = clock::now();
    tx.query("crawls.pace")
        .bind(storable(host))
        .bind(clock::millis(pace.gap))
        .bind(now + clock::millis(pace.pause))
        .bind(now)
        .execute(&mut tx)
        .await?;
    tx.commit().await?;
    store.wake();
    Ok(())
}
