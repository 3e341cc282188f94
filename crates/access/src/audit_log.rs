//! What the audit log is told by those who let callers in: who acts, keys that have expired and are used, sign-ins that
//! fail. What strangers can cause is bounded, so that they cannot fill it.

use crate::attempts::{FailureLimit, take_rate_of};
use futures_util::future::BoxFuture;
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;
pub use store::audit_log::{
    Actor, ActorKind, AuditAction, AuditEntry, AuditFilter, AuditStore, NewAuditEntry,
};
use store::sign_ins::SignInNote;
use store::{Millis, Store, StoreResult};
use uuid::Uuid;

/// Failed sign-ins that are recorded in an hour: of one address, and of all together.
const FAILED_SIGN_INS: FailureLimit = FailureLimit { group: "audit_sign_in_failed", per_address: 5 };
const FAILED_SIGN_INS_IN_ALL: u32 = 20;
/// Sign-ins of one key that are recorded in an hour.
const SIGN_INS_OF_KEY: u32 = 20;
const HOUR: Duration = Duration::from_hours(1);
/// The use of a key that has expired is told once in so long.
pub(crate) const EXPIRED_USE_GAP: Duration = Duration::from_hours(24);

/// A key that was used after its end.
#[derive(Debug, Clone)]
pub struct ExpiredKey {
    pub key: Uuid,
    pub team: Uuid,
    pub name: String,
    pub at: Millis,
}

/// Writes down that a key was used which has expired, once a day. Failing to do so costs nothing but that.
pub(crate) fn note_expired_use<'a>(
    store: &'a dyn Store,
    expired: &'a ExpiredKey,
    address: Option<IpAddr>,
) -> BoxFuture<'a, ()> {
    Box::pin(async move {
        let noted = async {
            if take_rate_of(store, expired.key, "audit_expired_use", 1, EXPIRED_USE_GAP).await?.is_none() {
                return Ok(());
            }
            let actor =
                Actor { kind: ActorKind::Key, key: Some(expired.key), name: expired.name.clone(), address };
            let entry = NewAuditEntry {
                team: expired.team,
                action: AuditAction::KeyExpiredUse,
                subject: Some(expired.key),
                details: json!({
                    "expiredAt": stored_data::time::iso(expired.at), "furtherNotRecorded": "for a day",
                }),
            };
            store.record_audit(entry, &actor).await
        };
        log_error(noted.await);
    })
}

/// Writes down that a sign-in failed: in the log of the first team, which is the operator's, since nobody knows whose key
/// it was.
pub(crate) fn note_failed_sign_in<'a>(
    store: &'a dyn Store,
    address: IpAddr,
    reason: &'a str,
) -> BoxFuture<'a, ()> {
    Box::pin(async move {
        let noted = async {
            let Some(own) = FAILED_SIGN_INS.take(store, address).await? else { return Ok(()) };
            let all = take_rate_of(store, Uuid::nil(), FAILED_SIGN_INS.group, FAILED_SIGN_INS_IN_ALL, HOUR);
            let Some(all) = all.await? else { return Ok(()) };
            let Some(team) = store.teams().await?.into_iter().next() else { return Ok(()) };
            let mut details = json!({ "reason": reason });
            if own == 0 || all == 0 {
                details["furtherNotRecorded"] = "for the rest of the hour".into();
            }
            let (action, subject) = (AuditAction::SignInFailed, None);
            let entry = NewAuditEntry { team: team.id, action, subject, details };
            store.record_audit(entry, &Actor::new(ActorKind::Unknown, "somebody", Some(address))).await
        };
        log_error(noted.await);
    })
}

/// How the start of a sign-in with a key is noted, if it still is in this hour.
pub(crate) async fn note_of_start<'a>(
    store: &dyn Store,
    key: Uuid,
    by: &'a Actor,
) -> StoreResult<Option<SignInNote<'a>>> {
    let left = take_rate_of(store, key, "audit_sign_in", SIGN_INS_OF_KEY, HOUR).await?;
    Ok(left.map(|left| SignInNote { by, is_last: left == 0 }))
}

fn log_error(noted: StoreResult<()>) {
    if let Err(error) = noted {
        tracing::warn!(%error, "a row of the audit log could not be written");
    }
}

/// Writes down something that changes nothing else which is stored. Failing to do so costs nothing but that.
pub fn note<'a>(
    store: &'a dyn Store,
    team: Uuid,
    by: &'a Actor,
    action: AuditAction,
    subject: Uuid,
    details: serde_json::Value,
) -> BoxFuture<'a, ()> {
    Box::pin(async move {
        let entry = NewAuditEntry { team, action, subject: Some(subject), details };
        log_error(store.record_audit(entry, by).await);
    })
}
