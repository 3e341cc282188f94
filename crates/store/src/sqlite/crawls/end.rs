//! The end of a crawl, whoever brings it about. Costs the same whatever is open in it.

use super::super::credits::close_in;
use super::super::{SqliteStore, Tx, webhooks};
use super::standing;
use crate::crawls::CrawlState;
use crate::jobs::CancelOutcome;
use crate::ledger::numbers::job_state;
use crate::ledger::standing::Standing;
use crate::webhooks::NewDelivery;
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

/// Ends a crawl and closes its reservation; the caller writes how it stands.
pub(super) async fn end(
    tx: &mut Tx,
    standing: &mut Standing,
    state: CrawlState,
    error: Option<String>,
    now: Millis,
) -> StoreResult<()> {
    if let Some(reservation) = standing.end(state, error, now) {
        close_in(tx, reservation).await?;
    }
    Ok(())
}

pub(super) async fn fail(
    store: &SqliteStore,
    crawl: Uuid,
    error: String,
    deliveries: &[NewDelivery],
) -> StoreResult<bool> {
    let mut tx = store.write().await?;
    let found = standing::read(&mut tx, crawl).await?;
    let Some(mut standing) = found.filter(|one| one.state == CrawlState::Active) else { return Ok(false) };
    end(&mut tx, &mut standing, CrawlState::Failed, Some(error), clock::now()).await?;
    standing::write(&mut tx, &standing).await?;
    webhooks::insert(&mut tx, deliveries).await?;
    tx.commit().await?;
    store.wake_if(!deliveries.is_empty());
    Ok(true)
}

pub(super) async fn cancel(store: &SqliteStore, team: Uuid, crawl: Uuid) -> StoreResult<CancelOutcome> {
    let mut tx = store.write().await?;
    let found = standing::read(&mut tx, crawl).await?;
    let Some(mut standing) = found.filter(|one| one.team == team) else { return Ok(CancelOutcome::NotFound) };
    if standing.state != CrawlState::Active {
        return Ok(CancelOutcome::AlreadyFinished(job_state(standing.state)));
    }
    end(&mut tx, &mut standing, CrawlState::Cancelled, None, clock::now()).await?;
    standing::write(&mut tx, &standing).await?;
    tx.commit().await?;
    Ok(CancelOutcome::Cancelled)
}
