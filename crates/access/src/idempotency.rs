//! Idempotency keys: what a caller sends with `x-idempotency-key` is done once. Jobs (crawls, batches, runs)
//! use their key in the transaction that accepts them. A scrape takes a while before anything of it is
//! written: its key is claimed first, and [`Unfinished`] gives the claim back whatever ends the request
//! early, a caller who hangs up included. After `kill -9` the claim lapses.

use crate::callers::Caller;
use crate::{CallerError, credits, from_store};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use store::admission::{Admission, NotAdmitted};
use store::idempotency::KeyClaim;
use store::{IdempotencyStore, Store};
use uuid::Uuid;

/// How long a key stays used.
const KEY_RETENTION: Duration = Duration::from_hours(24);
/// How much later than the request's own timeout a pending claim lapses. Writing the record must be over by
/// then.
const LAPSE_SLACK: Duration = Duration::from_secs(30);

/// The use of a caller's key for what will have the id `resource`.
pub fn claim(caller: &Caller, scope: &str, key: Option<&str>, resource: Uuid) -> Option<KeyClaim> {
    Some(KeyClaim {
        team_id: caller.team,
        scope: scope_of(caller, scope),
        key: key?.to_owned(),
        resource,
        keep_for: KEY_RETENTION,
    })
}

/// Callers without a key are one team, each with keys of its own.
fn scope_of(caller: &Caller, scope: &str) -> String {
    caller.keyless.map_or_else(|| scope.to_owned(), |address| format!("{scope} of {}", address.id))
}

/// Under which conditions work of a caller is accepted.
pub fn admission(caller: &Caller, scope: &str, key: Option<&str>, resource: Uuid) -> Admission {
    Admission { max_waiting: caller.plan.queue, claim: claim(caller, scope, key, resource) }
}

/// Why it was not.
pub fn not_admitted(caller: &Caller, refused: NotAdmitted) -> CallerError {
    match refused {
        NotAdmitted::QueueFull => CallerError::queue_full(caller.plan.queue.unwrap_or(u64::MAX)),
        NotAdmitted::KeyUsed(used) => CallerError::KeyUsed(used),
    }
}

/// Refuses a key that is known to be used, before anything is spent on the request. Whether it may be used is
/// decided later, by the transaction that uses it.
pub fn refuse_used<'a>(
    store: &'a dyn IdempotencyStore,
    caller: &'a Caller,
    scope: &'a str,
    key: Option<&'a str>,
) -> BoxFuture<'a, Result<(), CallerError>> {
    Box::pin(async move {
        let Some(key) = key else { return Ok(()) };
        let used = store.used_key(caller.team, &scope_of(caller, scope), key).await.map_err(from_store)?;
        used.map_or(Ok(()), |used| Err(CallerError::KeyUsed(used)))
    })
}

/// What a request holds until its work is recorded: an idempotency key and credits that were set aside.
/// Dropping it gives both back.
pub struct Unfinished {
    store: Arc<dyn Store>,
    claim: Option<KeyClaim>,
    reservation: Option<Uuid>,
}

impl std::fmt::Debug for Unfinished {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (claim, reservation) = (self.claim.is_some(), self.reservation.is_some());
        out.debug_struct("Unfinished")
            .field("claim", &claim)
            .field("reservation", &reservation)
            .finish_non_exhaustive()
    }
}

impl Unfinished {
    /// Claims the key of a request that may take `timeout`, where it has one.
    pub fn begin(
        store: &Arc<dyn Store>,
        claim: Option<KeyClaim>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Self, CallerError>> {
        Box::pin(async move {
            if let Some(claim) = &claim {
                let used = store.claim_key(claim, timeout + LAPSE_SLACK).await.map_err(from_store)?;
                if let Some(used) = used {
                    return Err(CallerError::KeyUsed(used));
                }
            }
            Ok(Self { store: store.clone(), claim, reservation: None })
        })
    }

    /// Credits that were set aside for the work.
    pub fn hold(&mut self, reservation: Option<Uuid>) {
        self.reservation = reservation;
    }

    /// Hands over to the record, whose transaction ends the claim and settles the credits.
    pub fn hand_over(&mut self) -> (Option<KeyClaim>, Option<Uuid>) {
        (self.claim.take(), self.reservation.take())
    }

    /// The record may not have been written. If it was, this changes nothing.
    pub fn take_back(&mut self, claim: Option<KeyClaim>) {
        self.claim = claim;
    }

    /// Gives back what was not handed over.
    pub fn give_back(mut self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let (claim, reservation) = self.hand_over();
            give_back(self.store.as_ref(), claim, reservation).await;
        })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let (claim, reservation) = self.hand_over();
        // A process that stops has no runtime any more; then the claim lapses and the reservation is swept.
        if (claim.is_some() || reservation.is_some())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let store = self.store.clone();
            runtime.spawn(async move { give_back(store.as_ref(), claim, reservation).await });
        }
    }
}

async fn give_back(store: &dyn Store, claim: Option<KeyClaim>, reservation: Option<Uuid>) {
    if let Some(claim) = claim
        && let Err(error) = store.release_key(&claim).await
    {
        tracing::warn!(%error, "could not give an idempotency key back; it lapses by itself");
    }
    if let Some(reservation) = reservation {
        credits::give_back(store, reservation).await;
    }
}
