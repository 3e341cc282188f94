//! The end of a crawl before its time. Costs the same whatever is open in it: counters say what became of it.

use super::super::{Transaction, webhooks};
use super::{CrawlBackend, standing};
use crate::StoreResult;
use crate::crawls::{CancelOutcome, CrawlState};
use crate::webhooks::NewDelivery;
use uuid::Uuid;

pub(super) async fn fail(
    store: &impl CrawlBackend,
    crawl: Uuid,
    error: String,
    deliveries: &[NewDelivery],
) -> StoreResult<bool> {
    let mut tx = store.begin_ledger().await?;
    let Some((mut standing, now)) = standing::lock(&mut tx, crawl).await? else { return Ok(false) };
    if standing.state != CrawlState::Active {
        return Ok(false);
    }
    let reservation = standing.end(CrawlState::Failed, Some(error), now);
    standing::write(&mut tx, &standing).await?;
    standing::release(&mut tx, reservation).await?;
    webhooks::insert(&mut tx, deliveries).await?;
    tx.commit().await?;
    if !deliveries.is_empty() {
        store.wake();
    }
    Ok(true)
}

pub(super) async fn cancel(store: &impl CrawlBackend, team: Uuid, crawl: Uuid) -> StoreResult<CancelOutcome> {
    let mut tx = store.begin_ledger().await?;
    let found = standing::lock(&mut tx, crawl).await?;
    let Some((mut standing, now)) = found.filter(|(one, _)| one.team == team) else {
        return Ok(CancelOutcome::NotFound);
    };
    if standing.state != CrawlState::Active {
        return Ok(CancelOutcome::AlreadyFinished(standing.state));
    }
    let reservation = standing.end(CrawlState::Cancelled, None, now);
    standing::write(&mut tx, &standing).await?;
    standing::release(&mut tx, reservation).await?;
    tx.commit().await?;
    Ok(CancelOutcome::Cancelled)
}
