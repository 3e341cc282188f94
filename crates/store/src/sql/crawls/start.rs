//! What is new in the ledger: crawls with their first entries, what is appended to batches, what settlements
//! find.

use super::super::credits::extend_in;
use super::super::{SqlConnection, Transaction, admission, webhooks};
use super::{CrawlBackend, progress};
use crate::admission::Admission;
use crate::crawls::{Appended, CrawlState, EntryKey, NewCrawl, NewEntry, StartedCrawl};
use crate::ledger::new_entries::{self, NewLine};
use crate::ledger::numbers::{kind_number, purpose};
use crate::ledger::progress::{CrawlProgress, max_running};
use crate::rows::Columns;
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock};
use std::collections::HashSet;
use uuid::Uuid;

/// The most entries that one statement writes: no statement of a long list lasts long.
const MAX_INSERTED_ENTRIES: usize = 2_000;

pub(super) async fn start(
    store: &impl CrawlBackend,
    crawl: &NewCrawl,
    entries: &[NewEntry],
) -> StoreResult<StartedCrawl> {
    let mut tx = store.begin_ledger().await?;
    if let Some(refused) = admission::begin(&mut tx, crawl.team_id, &crawl.admission).await? {
        return Ok(StartedCrawl::Refused(refused));
    }
    let now = tx.now().await?;
    let mut progress = CrawlProgress::new(crawl, now)?;
    // The row comes first: it finds an id that is in use before entries meet those of another crawl.
    insert(&mut tx, crawl, &progress).await?;
    if let Some(reservation) = crawl.reservation {
        hold(&mut tx, reservation).await?;
    }
    let lines = new_entries::number(&mut progress, entries, HashSet::new());
    insert_entries(store, &mut tx, crawl.id, &lines).await?;
    complete_if_done(&mut tx, &mut progress, now).await?;
    progress::write(&mut tx, &progress).await?;
    if let Some(refused) = admission::check_queue(&mut tx, crawl.team_id, &crawl.admission).await? {
        return Ok(StartedCrawl::Refused(refused));
    }
    webhooks::insert(&mut tx, &crawl.deliveries).await?;
    tx.announce().await?;
    tx.commit().await?;
    store.wake();
    Ok(StartedCrawl::Accepted)
}

async fn insert(tx: &mut impl SqlConnection, crawl: &NewCrawl, progress: &CrawlProgress) -> StoreResult<()> {
    let done = tx
        .query("crawls.insert")
        .bind(crawl.id)
        .bind(crawl.team_id)
        .bind(crawl.key_id)
        .bind(kind_number(crawl.kind))
        .bind(crawl.private)
        .bind(progress.limit)
        .bind(max_running(crawl))
        .bind(crawl.gap.map(clock::millis))
        .bind(progress.run_for)
        .bind(progress.retain_for)
        .bind(progress.reservation)
        .bind(progress.not_before)
        .bind(progress.deadline_at)
        .execute(tx)
        .await?;
    if done == 0 {
        return Err(new_entries::id_in_use(crawl.id));
    }
    tx.query("crawls.payload_insert").bind(crawl.id).bind(storable(&crawl.request)).execute(tx).await?;
    if !crawl.private {
        tx.query("activity.insert_audited")
            .bind(crawl.id)
            .bind(crawl.team_id)
            .bind(crawl.key_id)
            .bind(purpose(crawl.kind))
            .bind(storable(&crawl.target))
            .bind(storable_or_none(crawl.audit.as_ref()))
            .execute(tx)
            .await?;
    }
    Ok(())
}

/// Keeps a reservation from being swept until the crawl that names it is there.
async fn hold(tx: &mut impl SqlConnection, reservation: Uuid) -> StoreResult<()> {
    let open = tx.query("credits.reservation_open").bind_list(vec![reservation]).fetch_optional(tx).await?;
    open.map(|_| ()).ok_or_else(|| new_entries::reservation_closed(reservation))
}

pub(super) async fn append(
    store: &impl CrawlBackend,
    (team, batch): (Uuid, Uuid),
    entries: &[NewEntry],
    reservation: Option<Uuid>,
    admission: &Admission,
) -> StoreResult<Appended> {
    let mut tx = store.begin_ledger().await?;
    if let Some(refused) = admission::begin(&mut tx, team, admission).await? {
        return Ok(Appended::Refused(refused));
    }
    let found = progress::lock(&mut tx, batch).await?;
    let Some((mut progress, now)) = found.filter(|(one, now)| one.can_be_appended_to(team, *now)) else {
        return Ok(Appended::NotFound);
    };
    let was_completed = match progress.state {
        CrawlState::Active => false,
        CrawlState::Completed => true,
        ended => return Ok(Appended::Ended(ended)),
    };
    if let Some(reservation) = reservation {
        hold(&mut tx, reservation).await?;
    }
    let added = find(store, &mut tx, &mut progress, entries).await?;
    if was_completed && added == 0 {
        // It stays as it ended, and what was set aside for more is not needed.
        progress::release(&mut tx, reservation).await?;
        tx.commit().await?;
        return Ok(Appended::Added(0));
    }
    if was_completed {
        progress.reopen();
    }
    if let Some(new) = reservation {
        progress::release(&mut tx, progress.reservation.replace(new)).await?;
    }
    progress.deadline_at = now + progress.run_for;
    progress.scan_again();
    complete_if_done(&mut tx, &mut progress, now).await?;
    progress::write(&mut tx, &progress).await?;
    if let Some(refused) = admission::check_queue(&mut tx, team, admission).await? {
        return Ok(Appended::Refused(refused));
    }
    tx.announce().await?;
    tx.commit().await?;
    store.wake();
    Ok(Appended::Added(added))
}

pub(super) async fn extend_reservation(
    store: &impl CrawlBackend,
    crawl: Uuid,
    amount: i64,
    allowance: i64,
) -> StoreResult<bool> {
    let mut tx = store.begin().await?;
    let found = tx.query("crawls.reservation").bind(crawl).fetch_optional(&mut tx).await?;
    let Some(row) = found else { return Ok(false) };
    let Some(reservation) = row.id_or_none("reservation")? else { return Ok(true) };
    let extended = extend_in(&mut tx, reservation, amount, allowance).await?;
    if extended {
        tx.commit().await?;
    }
    Ok(extended)
}

/// A crawl that has nothing to do ends at once; the caller writes how it stands.
async fn complete_if_done(
    tx: &mut impl SqlConnection,
    progress: &mut CrawlProgress,
    now: Millis,
) -> StoreResult<()> {
    if progress.is_done() {
        let reservation = progress.end(CrawlState::Completed, None, now);
        progress::release(tx, reservation).await?;
    }
    Ok(())
}

/// Writes down those of the entries that are new in a locked crawl; how many.
pub(super) async fn find<B: CrawlBackend>(
    store: &B,
    tx: &mut B::Tx,
    progress: &mut CrawlProgress,
    entries: &[NewEntry],
) -> StoreResult<u64> {
    if entries.is_empty() {
        return Ok(0);
    }
    let known = known(tx, progress.id, entries).await?;
    let lines = new_entries::number(progress, entries, known);
    insert_entries(store, tx, progress.id, &lines).await?;
    Ok(lines.len() as u64)
}

async fn known(
    tx: &mut impl SqlConnection,
    crawl: Uuid,
    entries: &[NewEntry],
) -> StoreResult<HashSet<EntryKey>> {
    let keys: Vec<&[u8]> = entries.iter().map(|entry| &entry.key[..]).collect();
    let unknown = tx.query("crawls.unknown_keys").bind(crawl).bind_list(keys).fetch_all(tx).await?;
    let mut known: HashSet<EntryKey> = entries.iter().map(|entry| entry.key).collect();
    for row in &unknown {
        let position = usize::try_from(row.int("position")?).unwrap_or(usize::MAX);
        if let Some(entry) = entries.get(position) {
            known.remove(&entry.key);
        }
    }
    Ok(known)
}

async fn insert_entries<B: CrawlBackend>(
    store: &B,
    tx: &mut B::Tx,
    crawl: Uuid,
    lines: &[NewLine<'_>],
) -> StoreResult<()> {
    for lines in lines.chunks(MAX_INSERTED_ENTRIES) {
        store.insert_entries(tx, crawl, lines).await?;
    }
    Ok(())
}
