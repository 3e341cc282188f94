//! Access for applications that a person allows in the dashboard: OAuth's authorization code with PKCE. A client
//! registers itself or is described by a document at its own address; a person who is signed in allows it some scopes;
//! it trades a code, once, for an ordinary key of the person's team, and renews that key's secret with refresh tokens.
//! The key ends with the key of the person who allowed it.

mod clients;
mod error;
mod redirect;
mod request;
mod tokens;

pub use clients::{NewClient, RegisteredClient};
pub use error::{AuthorizationError, Rejection};
pub use request::{CheckedRequest, includes_resource};
pub use tokens::{CodeGrant, RefreshToken, Tokens};

use crate::attempts::AttemptLimit;
use crate::callers::Callers;
use crate::keys::Secret;
use clients::ClientDocuments;
use net::Fetcher;
use std::net::IpAddr;
use std::sync::Arc;
use store::Store;

/// What applications may ask for, and what they were allowed.
pub struct Authorizations {
    store: Arc<dyn Store>,
    callers: Arc<Callers>,
    documents: ClientDocuments,
}

impl std::fmt::Debug for Authorizations {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Authorizations").finish_non_exhaustive()
    }
}

impl Authorizations {
    pub fn new(store: Arc<dyn Store>, callers: Arc<Callers>, fetcher: Fetcher) -> Self {
        Self { store, callers, documents: ClientDocuments::new(fetcher) }
    }

    /// Counts an attempt; an error when there were too many in this hour.
    async fn count(&self, address: IpAddr, limit: AttemptLimit) -> Result<(), AuthorizationError> {
        match limit.count(self.store.as_ref(), address).await? {
            Some(retry_after) => Err(AuthorizationError::RateLimited { retry_after }),
            None => Ok(()),
        }
    }
}

fn random_secret() -> Result<Secret, AuthorizationError> {
    Secret::random().map_err(|error| {
        tracing::error!(%error, "no system randomness for a code or a token");
        AuthorizationError::Randomness
    })
}
