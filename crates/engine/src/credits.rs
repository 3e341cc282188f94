//! Credits: set aside before work starts, charged as it is done, the rest given back when it ends.

use crate::Error;
use crate::callers::Caller;
use std::time::Duration;
use store::Store;
use store::credits::NewReservation;
use uuid::Uuid;

/// Sets credits aside, or answers 402.
pub async fn reserve(
    store: &dyn Store,
    caller: &Caller,
    amount: i64,
    purpose: &str,
    hold_for: Duration,
) -> Result<Uuid, Error> {
    let reservation = NewReservation {
        team_id: caller.team,
        key_id: caller.key,
        amount,
        allowance: caller.plan.credits,
        purpose: purpose.to_owned(),
        hold_for,
    };
    let reserved = store.reserve(reservation).await.map_err(crate::from_store)?;
    reserved.ok_or(Error::InsufficientCredits)
}

/// Gives a reservation back when the work it was for could not be accepted. A failure here is only
/// logged: the sweeper gives it back later.
pub async fn give_back(store: &dyn Store, reservation: Uuid) {
    if let Err(error) = store.close(reservation).await {
        tracing::warn!(%error, "could not give reserved credits back; the sweeper will");
    }
}
