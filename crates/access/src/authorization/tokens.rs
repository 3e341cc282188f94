//! The token endpoint: codes and refresh tokens are traded for the secret of the client's key. A refresh token has two
//! parts. One stays, so that a token that was used before is recognized as one of the client; one changes with each use.

use super::clients::USED_LIFETIME;
use super::{AuthorizationError, Authorizations, random_secret};
use crate::attempts::FailureLimit;
use crate::audit_log::{Actor, ActorKind};
use crate::keys::{self, Secret};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::time::Duration;
use store::Millis;
use store::authorizations::{Authorization, RefreshHashes, RenewedSecret, Traded};
use store::keys::ApiKey;
use stored_data::time;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use wire::Scope;

/// How long a token works before it has to be renewed.
const TOKEN_LIFETIME: Duration = Duration::from_hours(1);
/// How long a refresh token may lie unused.
const REFRESH_LIFETIME: Duration = Duration::from_hours(30 * 24);
/// Codes and refresh tokens that do not verify.
const FAILURES: FailureLimit = FailureLimit { group: "oauth_token_failed", per_address: 300 };

const USED_BEFORE: AuthorizationError = AuthorizationError::InvalidGrant(
    "it was used before, so whatever it led to is revoked now; ask the person again",
);
const GONE: AuthorizationError =
    AuthorizationError::InvalidGrant("it is unknown, expired or revoked; ask the person again");
const OTHER_CLIENT: AuthorizationError = AuthorizationError::InvalidGrant("it was given to another client");

/// A code as a client presents it.
#[derive(Debug, Clone, Copy)]
pub struct CodeGrant<'a> {
    pub client: &'a str,
    pub code: &'a str,
    pub redirect_uri: &'a str,
    pub verifier: &'a str,
}

/// What a client gets. Shown once.
#[derive(Debug)]
pub struct Tokens {
    pub access: Secret,
    pub expires_in: Duration,
    pub refresh: RefreshToken,
    pub scopes: Vec<String>,
}

/// A refresh token in the clear. `Debug` hides it.
#[derive(Debug)]
pub struct RefreshToken {
    family: Secret,
    newest: Secret,
}

impl RefreshToken {
    pub fn reveal(&self) -> String {
        format!("{}.{}", self.family.reveal(), self.newest.reveal())
    }
}

impl Authorizations {
    /// Trades a code, once.
    pub fn redeem<'a>(
        &'a self,
        address: IpAddr,
        grant: CodeGrant<'a>,
    ) -> BoxFuture<'a, Result<Tokens, AuthorizationError>> {
        Box::pin(async move {
            let traded = self.trade_code(address, grant).await;
            self.count_failure(address, traded).await
        })
    }

    /// Trades a refresh token, once, for a new secret of the same key.
    pub fn refresh<'a>(
        &'a self,
        address: IpAddr,
        client: &'a str,
        token: &'a str,
        scope: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Tokens, AuthorizationError>> {
        Box::pin(async move {
            let traded = self.trade_refresh_token(address, client, token, scope).await;
            self.count_failure(address, traded).await
        })
    }

    async fn trade_code(&self, address: IpAddr, grant: CodeGrant<'_>) -> Result<Tokens, AuthorizationError> {
        let code = code_hash(grant.code);
        let authorization = self.store.authorization_by_code(&code).await?.ok_or(GONE)?;
        if authorization.client != grant.client {
            return Err(OTHER_CLIENT);
        }
        if authorization.redirect_uri != grant.redirect_uri {
            return Err(AuthorizationError::InvalidGrant("`redirect_uri` is not that of the request"));
        }
        // A wrong verifier does not use the code up: whoever saw the code must not be able to spoil it.
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(grant.verifier));
        if !bool::from(challenge.as_bytes().ct_eq(authorization.challenge.as_bytes())) {
            return Err(AuthorizationError::InvalidGrant("`code_verifier` does not belong to the request"));
        }
        let (access, family, newest) = (random_secret()?, random_secret()?, random_secret()?);
        let scopes: Vec<Scope> = authorization.scopes.iter().filter_map(|name| name.parse().ok()).collect();
        let name = format!("app {}", authorization.name);
        let expires_at = Some(expiry(&authorization)?);
        let key = keys::new_key(authorization.team, &name, &scopes, expires_at, &access);
        let hashes =
            RefreshHashes { family: family_hash(family.reveal()), newest: refresh_hash(newest.reveal()) };
        let by = application(&authorization, address);
        let traded = self.store.redeem_code(&code, key, hashes, REFRESH_LIFETIME, &by).await?;
        self.finish(traded, access, RefreshToken { family, newest })
    }

    async fn trade_refresh_token(
        &self,
        address: IpAddr,
        client: &str,
        token: &str,
        scope: Option<&str>,
    ) -> Result<Tokens, AuthorizationError> {
        let used = hashes_of(token).ok_or(GONE)?;
        let authorization = self.store.authorization_by_family(&used.family).await?.ok_or(GONE)?;
        if authorization.client != client {
            return Err(OTHER_CLIENT);
        }
        let granted = |name: &str| authorization.scopes.iter().any(|scope| scope == name);
        if scope.is_some_and(|names| !names.split_ascii_whitespace().all(granted)) {
            return Err(AuthorizationError::InvalidScope);
        }
        let (access, newest) = (random_secret()?, random_secret()?);
        let secret =
            RenewedSecret { hash: access.hash(), hint: access.hint(), expires_at: expiry(&authorization)? };
        let next = refresh_hash(newest.reveal());
        let by = application(&authorization, address);
        let traded = self.store.renew_key(used, &next, secret, REFRESH_LIFETIME, &by).await?;
        if let Ok(registered) = Uuid::try_parse(client) {
            self.store.keep_client(registered, USED_LIFETIME).await?;
        }
        let family = token.split('.').next().and_then(|family| Secret::chosen(family).ok()).ok_or(GONE)?;
        self.finish(traded, access, RefreshToken { family, newest })
    }

    /// The same result. A sender whose tokens fail too often is told to wait.
    async fn count_failure(
        &self,
        address: IpAddr,
        traded: Result<Tokens, AuthorizationError>,
    ) -> Result<Tokens, AuthorizationError> {
        if !matches!(traded, Err(AuthorizationError::InvalidGrant(_))) {
            return traded;
        }
        match FAILURES.count(self.store.as_ref(), address).await? {
            Some(retry_after) => Err(AuthorizationError::RateLimited { retry_after }),
            None => traded,
        }
    }

    /// Revokes what a refresh token belongs to; nothing happens for other tokens.
    pub fn revoke<'a>(
        &'a self,
        address: IpAddr,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), AuthorizationError>> {
        Box::pin(async move {
            let Some(hashes) = hashes_of(token) else { return Ok(()) };
            if let Some(authorization) = self.store.authorization_by_family(&hashes.family).await? {
                let by = application(&authorization, address);
                self.store.revoke_key(authorization.team, authorization.key, &by).await?;
                self.callers.forget();
            }
            Ok(())
        })
    }

    fn finish(
        &self,
        traded: Traded,
        access: Secret,
        refresh: RefreshToken,
    ) -> Result<Tokens, AuthorizationError> {
        // An older secret stops here at once.
        self.callers.forget();
        match traded {
            Traded::Key(key) => Ok(Tokens { access, expires_in: left(&key), refresh, scopes: key.scopes }),
            Traded::UsedBefore => Err(USED_BEFORE),
            Traded::Gone => Err(GONE),
        }
    }
}

/// In an hour, or with the key of the person.
fn expiry(authorization: &Authorization) -> Result<Millis, AuthorizationError> {
    let now = time::now();
    let end = now + i64::try_from(TOKEN_LIFETIME.as_millis()).unwrap_or(i64::MAX);
    let end = authorization.approver_expires_at.map_or(end, |approver| approver.min(end));
    if end > now { Ok(end) } else { Err(GONE) }
}

fn left(key: &ApiKey) -> Duration {
    let millis = key.expires_at.unwrap_or_default() - time::now();
    // Rounded, so that an hour is said to be one.
    Duration::from_secs(u64::try_from((millis + 500) / 1000).unwrap_or(0))
}

fn hashes_of(token: &str) -> Option<RefreshHashes> {
    let (family, newest) = token.split_once('.')?;
    Some(RefreshHashes { family: family_hash(family), newest: refresh_hash(newest) })
}

/// What is stored of each is never the hash of a key: one cannot be used as the other.
pub(super) fn code_hash(code: &str) -> [u8; 32] {
    keys::hash(&format!("code {code}"))
}

fn family_hash(family: &str) -> [u8; 32] {
    keys::hash(&format!("refresh family {family}"))
}

fn refresh_hash(newest: &str) -> [u8; 32] {
    keys::hash(&format!("refresh {newest}"))
}

/// The client of an authorization, as the audit log names it.
fn application(authorization: &Authorization, address: IpAddr) -> Actor {
    let name = format!("app {}", authorization.name);
    Actor { key: Some(authorization.key), ..Actor::new(ActorKind::Application, &name, Some(address)) }
}
