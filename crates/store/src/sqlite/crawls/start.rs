//! Accepting crawls and batches, and adding to batches.

use super::super::credits::close_in;
use super::super::{SqliteStore, Tx, admission, webhooks};
use super::{end, entries, standing};
use crate::admission::Admission;
use crate::crawls::{Appended, CrawlState, NewCrawl, NewEntry, StartedCrawl};
use crate::ledger::intake;
use crate::ledger::numbers::{crawl_state_number, kind_number, purpose};
use crate::ledger::standing::{Standing, max_running};
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

pub(super) async fn start(
    store: &SqliteStore,
    crawl: &NewCrawl,
    new: &[NewEntry],
) -> StoreResult<StartedCrawl> {
    let mut tx = store.write().await?;
    let now = clock::now();
    if let Some(refused) = admission::use_key(&mut tx, &crawl.admission, now).await? {
        return Ok(StartedCrawl::Refused(refused));
    }
    let mut standing = Standing::new(crawl, now)?;
    check_open(&mut tx, crawl.reservation).await?;
    // The row comes first: it finds an id that is in use before entries meet those of another crawl.
    insert(&mut tx, crawl, &standing, now).await?;
    entries::add(&mut tx, &mut standing, new, now).await?;
    if standing.is_done() {
        end::end(&mut tx, &mut standing, CrawlState::Completed, None, now).await?;
    }
    standing::write(&mut tx, &standing).await?;
    if let Some(refused) = admission::check_queue(&mut tx, crawl.team_id, &crawl.admission).await? {
        return Ok(StartedCrawl::Refused(refused));
    }
    if !crawl.private {
        write_activity(&mut tx, crawl, now).await?;
    }
    webhooks::insert(&mut tx, &crawl.deliveries).await?;
    tx.commit().await?;
    store.wake();
    Ok(StartedCrawl::Accepted)
}

async fn check_open(tx: &mut Tx, reservation: Option<Uuid>) -> StoreResult<()> {
    let Some(reservation) = reservation else { return Ok(()) };
    let open = sqlx::query(include_str!("../sql/credits/reservation_open.sql"))
        .bind(reservation)
        .fetch_optional(&mut **tx)
        .await?;
    if open.is_none() {
        return Err(intake::reservation_closed(reservation));
    }
    Ok(())
}

async fn insert(tx: &mut Tx, crawl: &NewCrawl, standing: &Standing, now: Millis) -> StoreResult<()> {
    let done = sqlx::query(include_str!("../sql/crawls/insert.sql"))
        .bind(crawl.id)
        .bind(crawl.team_id)
        .bind(crawl.key_id)
        .bind(kind_number(crawl.kind))
        .bind(crawl_state_number(standing.state))
        .bind(crawl.private)
        .bind(standing.limit)
        .bind(max_running(crawl))
        .bind(crawl.gap.map(clock::millis))
        .bind(standing.run_for)
        .bind(standing.retain_for)
        .bind(standing.reservation)
        .bind(now)
        .bind(standing.deadline_at)
        .execute(&mut **tx)
        .await?;
    if done.rows_affected() == 0 {
        return Err(intake::id_in_use(crawl.id));
    }
    sqlx::query(include_str!("../sql/crawls/luggage_insert.sql"))
        .bind(crawl.id)
        .bind(storable(&crawl.request))
        .execute(&mut **tx)
        .await?;
    Ok(())
}

async fn write_activity(tx: &mut Tx, crawl: &NewCrawl, now: Millis) -> StoreResult<()> {
    sqlx::query(include_str!("../sql/crawls/activity.sql"))
        .bind(crawl.id)
        .bind(crawl.team_id)
        .bind(crawl.key_id)
        .bind(purpose(crawl.kind))
        .bind(storable(&crawl.target))
        .bind(storable_or_none(crawl.audit.as_ref()))
        .bind(now)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub(super) async fn append(
    store: &SqliteStore,
    (team, batch): (Uuid, Uuid),
    new: &[NewEntry],
    reservation: Option<Uuid>,
    admission: &Admission,
) -> StoreResult<Appended> {
    let mut tx = store.write().await?;
    let now = clock::now();
    if let Some(refused) = admission::use_key(&mut tx, admission, now).await? {
        return Ok(Appended::Refused(refused));
    }
    let found = standing::read(&mut tx, batch).await?;
    let Some(mut standing) = found.filter(|one| one.can_be_appended_to(team, now)) else {
        return Ok(Appended::NotFound);
    };
    let was_completed = match standing.state {
        CrawlState::Active => false,
        CrawlState::Completed => true,
        ended => return Ok(Appended::Ended(ended)),
    };
    check_open(&mut tx, reservation).await?;
    let added = entries::add(&mut tx, &mut standing, new, now).await?;
    if was_completed && added == 0 {
        // It stays as it ended, and what was set aside for more is not needed.
        if let Some(reservation) = reservation {
            close_in(&mut tx, reservation).await?;
        }
        tx.commit().await?;
        return Ok(Appended::Added(0));
    }
    if was_completed {
        standing.reopen();
    }
    if reservation.is_some()
        && let Some(old) = std::mem::replace(&mut standing.reservation, reservation)
    {
        close_in(&mut tx, old).await?;
    }
    standing.deadline_at = now + standing.run_for;
    standing.look_again();
    if standing.is_done() {
        end::end(&mut tx, &mut standing, CrawlState::Completed, None, now).await?;
    }
    standing::write(&mut tx, &standing).await?;
    if let Some(refused) = admission::check_queue(&mut tx, team, admission).await? {
        return Ok(Appended::Refused(refused));
    }
    tx.commit().await?;
    store.wake();
    Ok(Appended::Added(added))
}
