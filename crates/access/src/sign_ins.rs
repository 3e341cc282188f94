//! Sign-ins of people who use the dashboard: an API key, or a link that works once, is traded for a token that the
//! browser keeps as a cookie and that acts as the key for some hours. Ends by time, by hand and with the key.

use crate::audit_log::{self, Actor};
use crate::callers::{Callers, sign_in_hash};
use crate::keys::{self, Secret};
use crate::{CallerError, from_store};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::keys::ApiKey;
use store::{Millis, Store, StoreResult};
use stored_data::time;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use wire::Scope;

/// How long a sign-in lasts.
pub const SIGN_IN_DURATION: Duration = Duration::from_hours(12);
/// How long a link that signs in may be opened. It is printed, so it may stand in a log.
const LINK_DURATION: Duration = Duration::from_mins(15);

/// A token in the clear, for the browser that signed in.
#[derive(Debug)]
pub struct StartedSignIn {
    pub token: Secret,
    pub expires_at: Millis,
}

/// A link that works once.
#[derive(Debug)]
struct Link {
    hash: [u8; 32],
    key: Uuid,
    until: Instant,
}

pub struct SignIns {
    store: Arc<dyn Store>,
    callers: Arc<Callers>,
    /// One at most: the one that the start of this process printed.
    link: Mutex<Option<Link>>,
}

impl std::fmt::Debug for SignIns {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SignIns").finish_non_exhaustive()
    }
}

impl SignIns {
    pub fn new(store: Arc<dyn Store>, callers: Arc<Callers>) -> Self {
        Self { store, callers, link: Mutex::default() }
    }

    /// Writes down in the audit log that somebody could not prove who they are. Strangers cannot fill it.
    pub fn note_failure<'a>(&'a self, address: IpAddr, reason: &'a str) -> BoxFuture<'a, ()> {
        audit_log::note_failed_sign_in(self.store.as_ref(), address, reason)
    }

    /// Starts a sign-in that acts as this key, and that lasts no longer than the secret that proved it. Forbidden for
    /// keys of applications, which a person would otherwise not get rid of by renewing or taking them back.
    pub fn start(
        &self,
        key: Uuid,
        secret_expires_at: Option<Millis>,
        by: Actor,
    ) -> BoxFuture<'_, Result<StartedSignIn, CallerError>> {
        Box::pin(async move {
            let token = random_token()?;
            let hash = sign_in_hash(token.reveal());
            let left = secret_expires_at.map_or(SIGN_IN_DURATION, |at| {
                Duration::from_millis(u64::try_from(at - time::now()).unwrap_or(0)).min(SIGN_IN_DURATION)
            });
            let note = audit_log::note_of_start(self.store.as_ref(), key, &by).await.map_err(from_store)?;
            let started = self.store.start_sign_in(&hash, key, left, note).await.map_err(from_store)?;
            let expires_at = started.ok_or(CallerError::Forbidden)?;
            Ok(StartedSignIn { token, expires_at })
        })
    }

    /// When the sign-in with this token ends.
    pub fn expires_at<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<Millis>, CallerError>> {
        Box::pin(async move {
            let found = self.store.sign_in(&sign_in_hash(token)).await.map_err(from_store)?;
            Ok(found.map(|found| found.expires_at))
        })
    }

    /// Ends the sign-in with this token; nothing happens where there is none.
    pub fn end<'a>(&'a self, token: &'a str, by: &'a Actor) -> BoxFuture<'a, Result<(), CallerError>> {
        Box::pin(async move {
            self.store.end_sign_in(&sign_in_hash(token), by).await.map_err(from_store)?;
            self.callers.forget();
            Ok(())
        })
    }

    /// Ends every sign-in that acts as this key.
    pub fn end_all<'a>(&'a self, key: Uuid, by: &'a Actor) -> BoxFuture<'a, Result<(), CallerError>> {
        Box::pin(async move {
            self.store.end_sign_ins(key, by).await.map_err(from_store)?;
            self.callers.forget();
            Ok(())
        })
    }

    /// A token for a link that signs in once, as the oldest key of the first team that may do everything; none
    /// where there is no such key.
    pub fn issue_link(&self) -> BoxFuture<'_, Result<Option<Secret>, CallerError>> {
        Box::pin(async move {
            let Some(key) = self.administrator().await.map_err(from_store)? else { return Ok(None) };
            let token = random_token()?;
            let hash = sign_in_hash(token.reveal());
            *self.link.lock() = Some(Link { hash, key: key.id, until: Instant::now() + LINK_DURATION });
            Ok(Some(token))
        })
    }

    /// The key that a link signs in as. The link does not work again.
    pub fn open_link(&self, token: &str) -> Result<Uuid, CallerError> {
        let hash = sign_in_hash(token);
        let opened = self.link.lock().take_if(|link| bool::from(link.hash.ct_eq(&hash)));
        let key = opened.filter(|link| link.until > Instant::now()).map(|link| link.key);
        key.ok_or(CallerError::Unauthorized)
    }

    async fn administrator(&self) -> StoreResult<Option<ApiKey>> {
        let Some(team) = self.store.teams().await?.into_iter().next() else { return Ok(None) };
        let now = time::now();
        let may = |key: &ApiKey| key.scopes.iter().any(|scope| scope == Scope::Admin.name());
        let keys = self.store.keys(team.id).await?;
        Ok(keys.into_iter().find(|key| keys::status(key, now) == "active" && may(key)))
    }
}

fn random_token() -> Result<Secret, CallerError> {
    Secret::random().map_err(|error| {
        tracing::error!(%error, "no system randomness for a sign-in");
        CallerError::Randomness
    })
}
