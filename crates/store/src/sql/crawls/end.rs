//! The end of a crawl before its time. Costs the same whatever is open in it: counters say what became of it.

use super::super::{Transaction, webhooks};
use super::{CrawlBackend, progress};
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
    let Some((mut progress, now)) = progress::lock(&mut tx, crawl).await? else { return Ok(false) };
    if progress.state != CrawlState::Active {
        return Ok(false);
    }
    let reservation = progress.end(CrawlState::Failed, Some(error), now);
    progress::write(&mut tx, &progress).await?;
    progress::release(&mut tx, reservation).await?;
    webhooks::insert(&mut tx, deliveries).await?;
    tx.commit().await?;
    if !deliveries.is_empty() {
        store.wake();
    }
    Ok(true)
}

pub(super) async fn cancel(store: &impl CrawlBackend, team: Uuid, crawl: Uuid) -> StoreResult<CancelOutcome> {
    let mut tx = store.begin_ledger().await?;
    let found = progress::lock(&mut tx, crawl).await?;
    let Some((mut progress, now)) = found.filter(|(one, _)| one.team == team) else {
        return Ok(CancelOutcome::NotFound);
    };
    if progress.state != CrawlState::Active {
        return Ok(CancelOutcome::AlreadyFinished(progress.state));
    }
    let reservation = progress.end(CrawlState::Cancelled, None, now);
    progress::write(&mut tx, &progress).await?;
    progress::release(&mut tx, reservation).await?;
    tx.commit().await?;
    Ok(CancelOutcome::Cancelled)
}
