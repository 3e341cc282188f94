//! What workers say about entries they hold: still on them, or done with an attempt.

use super::super::{SqliteStore, Tx};
use crate::crawls::{AttemptEnd, EntryLease, EntryState};
use crate::ledger::progress::Moves;
use crate::rows::Columns;
use crate::sql::crawls::progress::count_moves;
use crate::sql::{SqlConnection, pages, search};
use crate::text::storable_or_none;
use crate::work::LeaseStatus;
use crate::{Millis, StoreResult, clock, weight};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

pub(super) async fn keep(
    store: &SqliteStore,
    leases: &[EntryLease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    if leases.is_empty() {
        return Ok(Vec::new());
    }
    let mut groups: BTreeMap<(Uuid, Uuid), Vec<&EntryLease>> = BTreeMap::new();
    for lease in leases {
        groups.entry((lease.crawl, lease.owner)).or_default().push(lease);
    }
    let mut tx = store.write().await?;
    let until = clock::now() + clock::millis(lease_for);
    let mut held = HashSet::new();
    for ((crawl, owner), group) in groups {
        let list =
            Value::from(group.iter().map(|lease| json!([lease.seq, lease.number])).collect::<Vec<_>>());
        let kept = tx
            .query("crawls.keep")
            .bind(crawl)
            .bind(owner)
            .bind(list.to_string())
            .bind(until)
            .fetch_all(&mut tx)
            .await?;
        for row in &kept {
            let (seq, number) = (row.count("seq")?, row.count("lease_number")?);
            held.insert(EntryLease { crawl, seq, owner, number });
        }
    }
    tx.commit().await?;
    let status = |lease| if held.contains(lease) { LeaseStatus::Held } else { LeaseStatus::Lost };
    Ok(leases.iter().map(status).collect())
}

pub(super) async fn end(store: &SqliteStore, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>> {
    if ends.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let now = clock::now();
    let mut held = leased_entries(&mut tx, ends.iter().map(|(lease, _)| lease)).await?;
    let mut moves: BTreeMap<Uuid, Moves> = BTreeMap::new();
    let mut fetched: BTreeMap<Uuid, Bundle> = BTreeMap::new();
    let mut found = Vec::new();
    let mut answers = Vec::with_capacity(ends.len());
    for (lease, end) in ends {
        // Whoever ends an attempt twice has lost it by then.
        let one = held.remove(&lease);
        answers.push(one.is_some());
        let Some(one) = one else { continue };
        let moved = moves.entry(lease.crawl).or_default();
        let state = match end {
            AttemptEnd::Fetched { outcome, document, page, search } => {
                moved.stored += weight::length(document.as_ref().map_or(0, Vec::len));
                fetched.entry(lease.crawl).or_default().add(lease.seq, &outcome, document.as_deref());
                if let Some(page) = page.filter(|_| !one.private) {
                    pages::put_in(&mut tx, vec![(one.team, &page)]).await?;
                }
                found.extend(search.filter(|_| !one.private).map(|page| (one.team, page)));
                EntryState::Fetched
            }
            AttemptEnd::Retry { error, delay } => {
                requeue(&mut tx, &lease, Some(error), now + clock::millis(delay), now).await?;
                EntryState::Queued
            }
            AttemptEnd::HandBack => {
                requeue(&mut tx, &lease, None, now, now).await?;
                EntryState::Queued
            }
            AttemptEnd::Postponed { delay } => {
                requeue(&mut tx, &lease, None, now + clock::millis(delay), now).await?;
                EntryState::Queued
            }
        };
        moved.add(one.is_lists, EntryState::Running, state);
    }
    for (crawl, bundle) in fetched {
        bundle.write(&mut tx, crawl).await?;
    }
    search::put_in(&mut tx, found.iter().map(|(team, page)| (*team, page)).collect()).await?;
    count_moves(&mut tx, &moves).await?;
    tx.commit().await?;
    store.wake_if(moves.values().any(Moves::queue));
    Ok(answers)
}

/// An entry whose lease was checked inside the current transaction.
struct LeasedEntry {
    team: Uuid,
    private: bool,
    is_lists: bool,
}

/// Those of the leases that are held.
async fn leased_entries<'a>(
    tx: &mut Tx,
    leases: impl Iterator<Item = &'a EntryLease>,
) -> StoreResult<HashMap<EntryLease, LeasedEntry>> {
    let mut asked: BTreeMap<Uuid, Vec<i64>> = BTreeMap::new();
    for lease in leases {
        asked.entry(lease.crawl).or_default().push(lease.seq.cast_signed());
    }
    let mut held = HashMap::new();
    for (crawl, numbers) in asked {
        let running = tx.query("crawls.held").bind(crawl).bind_list(numbers).fetch_all(tx).await?;
        for row in &running {
            let (seq, number) = (row.count("seq")?, row.count("lease_number")?);
            let lease = EntryLease { crawl, seq, owner: row.id("lease_owner")?, number };
            held.insert(
                lease,
                LeasedEntry {
                    team: row.id("team_id")?,
                    private: row.flag("private")?,
                    is_lists: row.flag("is_lists")?,
                },
            );
        }
    }
    Ok(held)
}

/// What attempts of one crawl brought, laid end to end: written in one go, however many they are.
struct Bundle {
    lines: Vec<Value>,
    outcomes: Vec<u8>,
    documents: Vec<u8>,
}

impl Default for Bundle {
    fn default() -> Self {
        // One byte goes before the first: SQLite takes no piece of an empty whole.
        Self { lines: Vec::new(), outcomes: vec![0], documents: vec![0] }
    }
}

impl Bundle {
    fn add(&mut self, seq: u64, outcome: &[u8], document: Option<&[u8]>) {
        // Places are counted from 1.
        let (outcome_at, document_at) = (self.outcomes.len() + 1, self.documents.len() + 1);
        self.lines.push(json!([seq, outcome_at, outcome.len(), document_at, document.map(<[u8]>::len)]));
        self.outcomes.extend_from_slice(outcome);
        self.documents.extend_from_slice(document.unwrap_or_default());
    }

    async fn write(self, tx: &mut Tx, crawl: Uuid) -> StoreResult<()> {
        tx.query("crawls.write_fetched")
            .bind(crawl)
            .bind(Value::from(self.lines).to_string())
            .bind(self.outcomes)
            .bind(self.documents)
            .execute(tx)
            .await?;
        Ok(())
    }
}

/// Back to the queue. An attempt without an error was handed back and does not count.
async fn requeue(
    tx: &mut Tx,
    lease: &EntryLease,
    error: Option<String>,
    run_at: Millis,
    now: Millis,
) -> StoreResult<()> {
    tx.query("crawls.requeue")
        .bind(lease.crawl)
        .bind(lease.seq.cast_signed())
        .bind(i64::from(error.is_none()))
        .bind(storable_or_none(error.as_ref()))
        .bind(run_at)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}
