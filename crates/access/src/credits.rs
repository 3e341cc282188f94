//! Credits: set aside before work starts, charged as it is done, the rest given back when it ends.

use crate::CallerError;
use crate::callers::Caller;
use crate::keyless::count_credits;
use futures_util::future::BoxFuture;
use std::time::Duration;
use store::credits::NewReservation;
use store::{CreditStore, Store};
use uuid::Uuid;

/// How long credits stay reserved after the request's timeout. Those that nobody settles by then were left
/// behind by a crash.
const RESERVATION_SLACK: Duration = Duration::from_mins(2);

/// Sets credits aside for a request that may take `timeout`, where the plan has a limit. What an unlimited
/// plan uses is counted when the request is recorded. A caller without a key pays from the day of its address too, with
/// what the request may cost, whatever becomes of it.
pub fn reserve_for_request<'a>(
    store: &'a dyn Store,
    caller: &'a Caller,
    amount: i64,
    purpose: &'a str,
    timeout: Duration,
) -> BoxFuture<'a, Result<Option<Uuid>, CallerError>> {
    Box::pin(async move {
        count_credits(store, caller, amount).await?;
        if caller.plan.credits.is_none() {
            return Ok(None);
        }
        Ok(Some(reserve(store, caller, amount, purpose, timeout + RESERVATION_SLACK).await?))
    })
}

/// Sets credits aside, or answers 402.
pub fn reserve<'a>(
    store: &'a dyn CreditStore,
    caller: &'a Caller,
    amount: i64,
    purpose: &'a str,
    hold_for: Duration,
) -> BoxFuture<'a, Result<Uuid, CallerError>> {
    Box::pin(async move {
        let reservation = NewReservation {
            team_id: caller.team,
            key_id: caller.key,
            amount,
            allowance: caller.plan.credits,
            purpose: purpose.to_owned(),
            hold_for,
        };
        let reserved = store.reserve(reservation).await.map_err(crate::from_store)?;
        reserved.ok_or(CallerError::InsufficientCredits)
    })
}

/// What pays for work that turns out to cost more than was set aside for it: a PDF of many pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraCredits {
    /// Set aside with what was set aside for the request; nothing where the plan has no limit.
    Request(Option<Uuid>),
    /// Set aside with what was set aside for the crawl or batch.
    Crawl(Uuid),
    /// Counted by whoever asked for the work.
    Counted,
}

/// Sets more aside, or answers 402.
pub fn reserve_extra<'a>(
    store: &'a dyn Store,
    caller: &'a Caller,
    from: ExtraCredits,
    amount: i64,
) -> BoxFuture<'a, Result<(), CallerError>> {
    Box::pin(async move {
        if amount == 0 {
            return Ok(());
        }
        if matches!(from, ExtraCredits::Request(_)) {
            count_credits(store, caller, amount).await?;
        }
        let Some(allowance) = caller.plan.credits else { return Ok(()) };
        let covered = match from {
            ExtraCredits::Request(Some(reservation)) => store.extend(reservation, amount, allowance).await,
            ExtraCredits::Crawl(crawl) => store.extend_reservation(crawl, amount, allowance).await,
            ExtraCredits::Request(None) | ExtraCredits::Counted => Ok(true),
        };
        if covered.map_err(crate::from_store)? { Ok(()) } else { Err(CallerError::InsufficientCredits) }
    })
}

/// Gives a reservation back when the work it was for could not be accepted. A failure here is only
/// logged: the sweeper gives it back later.
pub fn give_back(store: &dyn CreditStore, reservation: Uuid) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        if let Err(error) = store.close(reservation).await {
            tracing::warn!(%error, "could not give reserved credits back; the sweeper will");
        }
    })
}
