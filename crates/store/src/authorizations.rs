//! Applications that a person lets act for a team (OAuth): the clients that registered themselves, and what people
//! allowed them. Each authorization is a key of the team, whose secret the client renews. Codes and refresh tokens are
//! known by their hashes only.

use crate::audit_log::Actor;
use crate::keys::{ApiKey, NewKey};
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// A client that registered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthClient {
    pub id: Uuid,
    /// As it calls itself.
    pub name: String,
    pub redirect_uris: Vec<String>,
}

/// What a person allowed a client, before the client traded its code.
#[derive(Debug, Clone)]
pub struct NewAuthorization {
    /// The id of the key that the client will get.
    pub key: Uuid,
    pub team: Uuid,
    /// The key that the person is signed in with.
    pub approver: Uuid,
    pub client: String,
    pub name: String,
    pub redirect_uri: String,
    /// The challenge of PKCE.
    pub challenge: String,
    pub scopes: Vec<String>,
    pub code: [u8; 32],
}

/// An authorization as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    pub key: Uuid,
    pub team: Uuid,
    pub client: String,
    pub name: String,
    pub redirect_uri: String,
    pub challenge: String,
    pub scopes: Vec<String>,
    /// When the key of the person expires, with which this one ends.
    pub approver_expires_at: Option<Millis>,
}

/// The hashes of a refresh token: of the part that stays, and of the part that changes with each use.
#[derive(Debug, Clone, Copy)]
pub struct RefreshHashes {
    pub family: [u8; 32],
    pub newest: [u8; 32],
}

/// The next secret of a key.
#[derive(Debug, Clone)]
pub struct RenewedSecret {
    pub hash: [u8; 32],
    pub hint: String,
    pub expires_at: Millis,
}

/// What became of a code or a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Traded {
    Key(ApiKey),
    /// It was used before. The key of the authorization is revoked now: one of the two who used it is not the client.
    UsedBefore,
    /// Unknown, expired or revoked.
    Gone,
}

#[async_trait::async_trait]
pub trait AuthorizationStore: Send + Sync + 'static {
    async fn create_client(&self, client: OAuthClient, keep_for: Duration) -> StoreResult<()>;

    async fn client(&self, id: Uuid) -> StoreResult<Option<OAuthClient>>;

    /// Keeps a client at least so much longer.
    async fn keep_client(&self, id: Uuid, keep_for: Duration) -> StoreResult<()>;

    /// `false` when the key of the person was itself given to a client: it must not allow others.
    async fn authorize(&self, new: NewAuthorization, keep_for: Duration, by: &Actor) -> StoreResult<bool>;

    /// The authorization of a code, used or not.
    async fn authorization_by_code(&self, code: &[u8; 32]) -> StoreResult<Option<Authorization>>;

    /// The authorization that a refresh token belongs to.
    async fn authorization_by_family(&self, family: &[u8; 32]) -> StoreResult<Option<Authorization>>;

    /// Trades a code for the key. Of several who do it at once, in whichever process, one gets it.
    async fn redeem_code(
        &self,
        code: &[u8; 32],
        key: NewKey,
        refresh: RefreshHashes,
        keep_for: Duration,
        by: &Actor,
    ) -> StoreResult<Traded>;

    /// Gives the key of an authorization a new secret, for a refresh token that is used up with it.
    async fn renew_key(
        &self,
        used: RefreshHashes,
        next: &[u8; 32],
        secret: RenewedSecret,
        keep_for: Duration,
        by: &Actor,
    ) -> StoreResult<Traded>;

    /// Deletes up to `limit` clients that have expired, and as many authorizations with their keys a day after they
    /// did; how many of whichever were more.
    async fn purge_authorizations(&self, limit: u32) -> StoreResult<u64>;
}
