//! Registration of agents without a key: an identity assertion of a trusted issuer is traded for an API key, or for
//! a token that expires. The HTTP server calls it; assertions are verified by the crate `identity`, and keys are
//! those of [`crate::keys`], so scopes, plans and limits hold for them like for any other.

use crate::attempts::{AttemptLimit, FailureLimit};
use crate::audit_log::{Actor, ActorKind};
use crate::callers::Callers;
use crate::keys::{self, Secret, ordinary_scopes};
use futures_util::future::BoxFuture;
use identity::{Expected, Identity, Refusal, TrustedIssuer, Verifier};
use net::Fetcher;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use store::keys::{ApiKey, NewTeam};
use store::registrations::{NewRegistration, UserHash};
use store::{Store, StoreError};
use stored_data::time;
use uuid::Uuid;
use wire::Scope;

const REGISTER: AttemptLimit = AttemptLimit { group: "register", per_address: 60, in_all: 1000 };
/// Assertions and tokens that do not verify.
const FAILURES: FailureLimit = FailureLimit { group: "register_failed", per_address: 60 };
/// For registrations that nobody vouches for.
const REGISTER_ANONYMOUSLY: AttemptLimit =
    AttemptLimit { group: "register_anonymously", per_address: 5, in_all: 100 };
/// How long a token is valid. There are no refresh tokens: a client presents a new assertion.
pub const TOKEN_LIFETIME: Duration = Duration::from_hours(1);
/// Valid keys of one user; with one more the oldest is revoked.
const MAX_KEYS_OF_USER: u32 = 20;
const MAX_NAME_CHARS: usize = 100;

/// What the operator allows.
#[derive(Debug, Default)]
pub struct RegistrationSettings {
    pub trusted: Vec<TrustedIssuer>,
    /// The plan of agents that register without any assertion; `None`: they may not.
    pub anonymous_plan: Option<String>,
    /// The plan of teams that are created for an issuer.
    pub plan: String,
}

/// Trades assertions for keys.
pub struct Registrations {
    store: Arc<dyn Store>,
    callers: Arc<Callers>,
    verifier: Verifier,
    anonymous_plan: Option<String>,
    plan: String,
}

impl std::fmt::Debug for Registrations {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Registrations").field("verifier", &self.verifier).finish_non_exhaustive()
    }
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    #[error("{}", .0.description())]
    Refused(Refusal),
    #[error("this assertion was used before; ask its issuer for a new one")]
    Replayed,
    #[error("too many registrations; try again later")]
    RateLimited { retry_after: Duration },
    #[error("none of the requested scopes may be granted")]
    NoScope,
    #[error("this server does not accept registrations of this kind")]
    NotOffered,
    #[error("the client could not be authenticated")]
    UnknownClient,
    #[error("the database is not available")]
    Store(#[from] StoreError),
    #[error("no system randomness for a new key")]
    Randomness,
}

impl From<Refusal> for RegistrationError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A client as it authenticates itself.
#[derive(Debug, Clone, Copy)]
pub struct ClientCredentials<'a> {
    pub id: &'a str,
    pub secret: Option<&'a str>,
}

/// A key that was just created. Shown once.
#[derive(Debug)]
pub struct Registered {
    /// Stands for the user; the same for every registration of one.
    pub user: Uuid,
    pub secret: Secret,
    pub key: ApiKey,
}

impl Registrations {
    pub fn new(
        store: Arc<dyn Store>,
        callers: Arc<Callers>,
        fetcher: Fetcher,
        settings: RegistrationSettings,
    ) -> Self {
        let RegistrationSettings { trusted, anonymous_plan, plan } = settings;
        Self { store, callers, verifier: Verifier::new(trusted, fetcher), anonymous_plan, plan }
    }

    /// Whether anybody can register at all.
    pub fn are_offered(&self) -> bool {
        self.accepts_assertions() || self.accepts_anonymous()
    }

    pub fn accepts_assertions(&self) -> bool {
        !self.verifier.trusts_nobody()
    }

    pub fn accepts_anonymous(&self) -> bool {
        self.anonymous_plan.is_some()
    }

    /// A key for the user that the assertion names. It has no end, unless the client needs a secret: then it is a
    /// token like those of [`Registrations::exchange`].
    pub fn register<'a>(
        &'a self,
        address: IpAddr,
        client: Option<ClientCredentials<'a>>,
        assertion: &'a str,
        expected: &'a Expected<'a>,
    ) -> BoxFuture<'a, Result<Registered, RegistrationError>> {
        Box::pin(async move {
            let identity = self.verify(address, client, assertion, expected).await?;
            self.count(address, REGISTER).await?;
            let ends = identity.issuer.needs_secret_of(&identity.client_id);
            self.create_key(address, &identity, None, ends.then(token_end)).await
        })
    }

    /// A token that expires, for a client that authenticates itself and names the scopes it wants.
    pub fn exchange<'a>(
        &'a self,
        address: IpAddr,
        client: Option<ClientCredentials<'a>>,
        assertion: &'a str,
        asked_scopes: Option<&'a str>,
        expected: &'a Expected<'a>,
    ) -> BoxFuture<'a, Result<Registered, RegistrationError>> {
        Box::pin(async move {
            let identity = self.verify(address, client, assertion, expected).await?;
            self.create_key(address, &identity, asked_scopes, Some(token_end())).await
        })
    }

    /// A key that nobody vouches for, in a team of its own with the operator's small plan.
    pub fn register_anonymously(
        &self,
        address: IpAddr,
    ) -> BoxFuture<'_, Result<Registered, RegistrationError>> {
        Box::pin(async move {
            let plan = self.anonymous_plan.as_ref().ok_or(RegistrationError::NotOffered)?;
            self.count(address, REGISTER_ANONYMOUSLY).await?;
            let user = Uuid::new_v4();
            let team = NewTeam {
                id: user,
                name: format!("anonymous {}", user.simple()),
                plan: plan.clone(),
                zero_data_retention: false,
            };
            self.store.create_team(team).await?;
            let secret = random_secret()?;
            let hash = hash(&["anonymous", &user.to_string()]);
            let scopes = ordinary_scopes();
            let key = keys::new_key(user, "anonymous agent", &scopes, None, &secret);
            let by = Actor::new(ActorKind::Agent, "an agent without an assertion", Some(address));
            let key = self.store.register(new_registration(hash, "anonymous", key), &by).await?;
            Ok(Registered { user, secret, key })
        })
    }

    /// Revokes all keys of the user that a logout token names; how many were valid.
    pub fn revoke_user<'a>(
        &'a self,
        address: IpAddr,
        logout_token: &'a str,
        expected: &'a Expected<'a>,
    ) -> BoxFuture<'a, Result<u64, RegistrationError>> {
        Box::pin(async move {
            let now = time::now() / 1000;
            let verified = self.verifier.verify_logout(logout_token, expected, now).await;
            let (issuer, subject) = self.count_failure(address, verified.map_err(Into::into)).await?;
            let by = Actor::new(ActorKind::Agent, &format!("the issuer {issuer}"), Some(address));
            let revoked = self.store.revoke_user(&user_hash(&issuer, &subject), &by).await?;
            self.callers.forget();
            Ok(revoked)
        })
    }

    /// Revokes one token by itself. Unknown tokens are not an error (RFC 7009): they do not work either.
    pub fn revoke_token<'a>(
        &'a self,
        address: IpAddr,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), RegistrationError>> {
        Box::pin(async move {
            if let Some((key, team)) = self.store.key_by_hash(&keys::hash(token)).await? {
                let by = Actor { key: Some(key.id), ..Actor::new(ActorKind::Key, &key.name, Some(address)) };
                self.store.revoke_key(team.id, key.id, &by).await?;
                self.callers.forget();
            }
            Ok(())
        })
    }

    /// Whom an assertion stands for. It is of this client, which has authenticated itself, and cannot be used again.
    async fn verify(
        &self,
        address: IpAddr,
        client: Option<ClientCredentials<'_>>,
        assertion: &str,
        expected: &Expected<'_>,
    ) -> Result<Identity, RegistrationError> {
        let verifying = async {
            let identity = self.verifier.verify(assertion, expected, time::now() / 1000).await?;
            if client.is_some_and(|client| client.id != identity.client_id) {
                return Err(Refusal::InvalidClientId("the assertion was issued to another client").into());
            }
            let secret = client.and_then(|client| client.secret);
            if !identity.issuer.authenticates(&identity.client_id, secret) {
                return Err(RegistrationError::UnknownClient);
            }
            self.use_once(&identity).await?;
            Ok::<_, RegistrationError>(identity)
        };
        self.count_failure(address, verifying.await).await
    }

    /// The same result. A sender whose assertions fail too often is told to wait.
    async fn count_failure<T>(
        &self,
        address: IpAddr,
        verified: Result<T, RegistrationError>,
    ) -> Result<T, RegistrationError> {
        use RegistrationError::{RateLimited, Refused, Replayed, UnknownClient};
        if !matches!(verified, Err(Refused(_) | Replayed | UnknownClient)) {
            return verified;
        }
        match FAILURES.count(self.store.as_ref(), address).await? {
            Some(retry_after) => Err(RateLimited { retry_after }),
            None => verified,
        }
    }

    /// An assertion is used once, over all processes that share the database.
    async fn use_once(&self, identity: &Identity) -> Result<(), RegistrationError> {
        let assertion = hash(&["assertion", &identity.issuer.issuer, &identity.assertion_id]);
        let until = identity.expires_at.saturating_mul(1000);
        if self.store.use_assertion(&assertion, until).await? {
            Ok(())
        } else {
            Err(RegistrationError::Replayed)
        }
    }

    async fn create_key(
        &self,
        address: IpAddr,
        identity: &Identity,
        asked_scopes: Option<&str>,
        expires_at: Option<i64>,
    ) -> Result<Registered, RegistrationError> {
        let scopes = granted_scopes(identity, asked_scopes).ok_or(RegistrationError::NoScope)?;
        let team = self.team_of(&identity.issuer).await?;
        let secret = random_secret()?;
        let name: String = format!("agent {}", identity.client_id).chars().take(MAX_NAME_CHARS).collect();
        let user = user_hash(&identity.issuer.issuer, &identity.subject);
        let key = keys::new_key(team, &name, &scopes, expires_at, &secret);
        let by = Actor::new(ActorKind::Agent, &identity.client_id, Some(address));
        let key = self.store.register(new_registration(user, &identity.client_id, key), &by).await?;
        Ok(Registered { user: uuid_from(&user), secret, key })
    }

    /// The team of an issuer's users, which the first of them creates.
    async fn team_of(&self, issuer: &TrustedIssuer) -> Result<Uuid, RegistrationError> {
        let name = issuer.team.as_deref();
        if let Some(name) = name
            && let Some(team) = self.store.teams().await?.into_iter().find(|team| team.name == name)
        {
            return Ok(team.id);
        }
        // The same id in every process, so that of several that create the team at once one succeeds.
        let name = name.unwrap_or(&issuer.issuer);
        let id = uuid_from(&hash(&["team", name]));
        if self.store.team(id).await?.is_some() {
            return Ok(id);
        }
        let team = NewTeam { id, name: name.to_owned(), plan: self.plan.clone(), zero_data_retention: false };
        match self.store.create_team(team).await {
            Ok(team) => Ok(team.id),
            Err(error) if self.store.team(id).await?.is_none() => Err(error.into()),
            Err(_) => Ok(id),
        }
    }

    /// Counts an attempt; an error when there were too many in this hour.
    async fn count(&self, address: IpAddr, limit: AttemptLimit) -> Result<(), RegistrationError> {
        match limit.count(self.store.as_ref(), address).await? {
            Some(retry_after) => Err(RegistrationError::RateLimited { retry_after }),
            None => Ok(()),
        }
    }
}

fn token_end() -> i64 {
    time::now() + i64::try_from(TOKEN_LIFETIME.as_millis()).unwrap_or(i64::MAX)
}

/// What was asked for, and the issuer asserts, and the operator allows; `None` if that is nothing.
fn granted_scopes(identity: &Identity, asked: Option<&str>) -> Option<Vec<Scope>> {
    let allowed = match &identity.issuer.scopes {
        Some(names) => names.iter().filter_map(|name| name.parse().ok()).collect(),
        None => ordinary_scopes(),
    };
    let asserted = |scope: &Scope| {
        identity.scopes.as_ref().is_none_or(|names| names.iter().any(|name| name == scope.name()))
    };
    let wanted = |scope: &Scope| {
        asked.is_none_or(|names| names.split_ascii_whitespace().any(|name| name == scope.name()))
    };
    let granted: Vec<Scope> = allowed.into_iter().filter(|scope| asserted(scope) && wanted(scope)).collect();
    (!granted.is_empty()).then_some(granted)
}

fn new_registration(user: UserHash, client: &str, key: store::keys::NewKey) -> NewRegistration {
    NewRegistration { user, client: client.to_owned(), key, max_keys: MAX_KEYS_OF_USER }
}

fn random_secret() -> Result<Secret, RegistrationError> {
    Secret::random().map_err(|error| {
        tracing::error!(%error, "no system randomness for a new key");
        RegistrationError::Randomness
    })
}

fn user_hash(issuer: &str, subject: &str) -> UserHash {
    hash(&["user", issuer, subject])
}

/// Of several texts, each with its length, so that no two lists have the same hash.
fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().into()
}

fn uuid_from(hash: &[u8; 32]) -> Uuid {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
