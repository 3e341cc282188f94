//! Who calls: from a bearer key to a team, a plan and scopes. Remembers keys for a few seconds, so
//! that a request costs no read, and notes when keys were used, in batches.

use crate::CallerError;
use crate::audit_log::{self, Actor, ActorKind, EXPIRED_USE_GAP, ExpiredKey};
use crate::keys;
use crate::plans::{Plan, Plans};
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::keys::{ApiKey, Team};
use store::sign_ins::SignIn;
use store::{Millis, Store, StoreResult};
use stored_data::time;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use wire::Scope;

/// How long a key is believed without asking the store again: the longest a key that another process
/// revoked still works here.
const KEY_CACHE_TIME: Duration = Duration::from_millis(800);
/// Keys cached at once; past it the memory starts afresh. Bounds what a flood of guesses can take.
const MAX_CACHED_KEYS: usize = 10_000;

/// A caller without a key is known by an address only.
#[derive(Debug, Clone, Copy)]
pub struct KeylessAddress {
    /// What it is counted under.
    pub id: Uuid,
    pub credits_per_day: u32,
}

/// The identity behind a request.
#[derive(Debug)]
pub struct Caller {
    pub team: Uuid,
    pub team_name: String,
    pub zero_data_retention: bool,
    pub plan_name: String,
    pub plan: Arc<Plan>,
    /// `None` when authentication is off, and for callers without a key.
    pub key: Option<Uuid>,
    /// The address of a caller without a key.
    pub keyless: Option<KeylessAddress>,
    /// The name of the key; empty without one.
    pub key_name: String,
    /// Whether the key itself was sent, or the cookie of a sign-in.
    kind: ActorKind,
    /// When the secret ends that the caller proved who it is with, or its whole key.
    pub expires_at: Option<Millis>,
    /// The hosts that may be reached for the caller; all where it is empty.
    pub hosts: Arc<[String]>,
    scopes: Vec<Scope>,
    /// When its use was last noted, so that a busy key is noted once a second and not every time.
    noted: AtomicI64,
}

impl Caller {
    pub fn new(team: Team, key: Option<&ApiKey>, plans: &Plans) -> Self {
        let scopes = match key {
            // A scope that a newer version wrote and this one does not know grants nothing.
            Some(key) => key.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
            None => Scope::ALL.to_vec(),
        };
        Self {
            team: team.id,
            team_name: team.name,
            zero_data_retention: team.zero_data_retention,
            plan: plans.get(&team.plan),
            plan_name: team.plan,
            key: key.map(|key| key.id),
            keyless: None,
            key_name: key.map(|key| key.name.clone()).unwrap_or_default(),
            kind: ActorKind::Key,
            expires_at: key.and_then(|key| key.expires_at),
            hosts: Arc::default(),
            scopes,
            noted: AtomicI64::new(0),
        }
    }

    /// Whoever began work that goes on by itself. What bounded the key then bounds the work, also when the key is gone.
    pub fn of_work<'a>(
        store: &'a dyn Store,
        team: Team,
        key: Option<Uuid>,
        plans: &'a Plans,
    ) -> BoxFuture<'a, StoreResult<Self>> {
        Box::pin(async move {
            let hosts = match key {
                Some(key) => store.key_hosts(key).await?.unwrap_or_default(),
                None => Vec::new(),
            };
            Ok(Self { key, hosts: hosts.into(), ..Self::new(team, None, plans) })
        })
    }

    /// A caller who is known by an address only.
    pub fn without_key(team: Team, address: KeylessAddress, scopes: &[Scope], plans: &Plans) -> Self {
        Self { keyless: Some(address), scopes: scopes.to_vec(), ..Self::new(team, None, plans) }
    }

    /// Whether nothing of what this caller does is stored. Those without a key are one team and do not know each
    /// other: what is stored for one of them would be found by the others.
    pub fn keeps_nothing(&self) -> bool {
        self.zero_data_retention || self.keyless.is_some()
    }

    /// Whose requests are counted together, and who shares idempotency keys, fetches and pages for search.
    pub fn counted_as(&self) -> Uuid {
        self.keyless.map_or(self.team, |address| address.id)
    }

    /// As the audit log names the caller.
    pub fn actor(&self, address: Option<IpAddr>) -> Actor {
        match self.key {
            Some(key) => Actor { kind: self.kind, key: Some(key), name: self.key_name.clone(), address },
            None => Actor::new(ActorKind::Unknown, "anybody: authentication is off", address),
        }
    }

    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// `Forbidden` unless the key has the scope.
    pub fn require(&self, scope: Scope) -> Result<(), CallerError> {
        if self.may(scope) { Ok(()) } else { Err(CallerError::Forbidden) }
    }
}

/// What a credential turned out to be.
#[derive(Debug, Clone)]
enum Known {
    Caller(Arc<Caller>),
    /// It is known and would be valid, had it not ended then.
    Expired(Arc<ExpiredKey>),
    /// Nobody's, or revoked.
    Invalid,
}

#[derive(Debug)]
struct CachedKey {
    hash: [u8; 32],
    known: Known,
    until: Instant,
}

pub struct Callers {
    store: Arc<dyn Store>,
    plans: Plans,
    /// By the first bytes of the hash; the whole hash is compared in constant time.
    cached: RwLock<HashMap<u64, CachedKey>>,
    /// Counts [`Callers::forget`]: an answer read before it must not be cached after it.
    forgotten: AtomicU64,
    used: Mutex<HashMap<Uuid, Millis>>,
    /// Keys whose use after their end was noted in the audit log.
    expired: Mutex<HashMap<Uuid, Instant>>,
}

impl std::fmt::Debug for Callers {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Callers").field("plans", &self.plans).finish_non_exhaustive()
    }
}

impl Callers {
    pub fn new(store: Arc<dyn Store>, plans: Plans) -> Self {
        Self {
            store,
            plans,
            cached: RwLock::default(),
            forgotten: AtomicU64::new(0),
            used: Mutex::default(),
            expired: Mutex::default(),
        }
    }

    /// Writes down in the audit log that a key was used which has expired.
    pub fn note_expired_use<'a>(
        &'a self,
        expired: &'a ExpiredKey,
        address: Option<IpAddr>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if !self.is_noted_expired(expired.key, EXPIRED_USE_GAP) {
                audit_log::note_expired_use(self.store.as_ref(), expired, address).await;
            }
        })
    }

    /// Whether the use of an expired key was noted by this process lately; from now on it was.
    fn is_noted_expired(&self, key: Uuid, gap: Duration) -> bool {
        let mut expired = self.expired.lock();
        if expired.len() >= MAX_CACHED_KEYS {
            expired.clear();
        }
        let before = expired.insert(key, Instant::now());
        before.is_some_and(|at| at.elapsed() < gap)
    }

    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The caller with this key, or 401.
    pub fn authenticate<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Arc<Caller>, CallerError>> {
        Box::pin(async move { self.authenticate_hash(keys::hash(key), Credential::Key).await })
    }

    /// The caller whose browser holds this token of a sign-in, or 401.
    pub fn authenticate_sign_in<'a>(
        &'a self,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Arc<Caller>, CallerError>> {
        Box::pin(async move { self.authenticate_hash(sign_in_hash(token), Credential::SignIn).await })
    }

    async fn authenticate_hash(
        &self,
        hash: [u8; 32],
        credential: Credential,
    ) -> Result<Arc<Caller>, CallerError> {
        let known = match self.recall(&hash) {
            Some(cached) => cached,
            None => self.look_up(hash, credential).await.map_err(crate::from_store)?,
        };
        let caller = match known {
            Known::Caller(caller) => caller,
            Known::Expired(key) => return Err(CallerError::KeyExpired(key)),
            Known::Invalid => return Err(CallerError::Unauthorized),
        };
        if let Some(key) = caller.key {
            let now = time::now();
            if now - caller.noted.load(Ordering::Relaxed) >= 1000 {
                caller.noted.store(now, Ordering::Relaxed);
                self.used.lock().insert(key, now);
            }
        }
        Ok(caller)
    }

    /// The first team with every right, for a server with authentication off.
    pub fn anyone(&self) -> BoxFuture<'_, Result<Arc<Caller>, CallerError>> {
        Box::pin(async move {
            let teams = self.store.teams().await.map_err(crate::from_store)?;
            let team = teams.into_iter().next().ok_or(CallerError::NoTeam)?;
            Ok(Arc::new(Caller::new(team, None, &self.plans)))
        })
    }

    /// Forgets every cached key, so that a change made here holds at once.
    pub fn forget(&self) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.cached.write().clear();
    }

    /// Writes down which keys were used since the last time.
    pub fn flush_used(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move {
            let used: Vec<_> = self.used.lock().drain().collect();
            if used.is_empty() {
                return Ok(());
            }
            let written = self.store.touch_keys(&used).await;
            if written.is_err() {
                // Noted the next time, unless a key was used again since.
                let mut waiting = self.used.lock();
                for (key, at) in used {
                    waiting.entry(key).or_insert(at);
                }
            }
            written
        })
    }

    /// `None`: ask the store. Otherwise what it said a moment ago.
    fn recall(&self, hash: &[u8; 32]) -> Option<Known> {
        let cached = self.cached.read();
        let known = cached.get(&slot(hash))?;
        let fresh = known.until > Instant::now() && bool::from(known.hash.ct_eq(hash));
        fresh.then(|| known.known.clone())
    }

    async fn look_up(&self, hash: [u8; 32], credential: Credential) -> StoreResult<Known> {
        let generation = self.forgotten.load(Ordering::SeqCst);
        let found = match credential {
            Credential::Key => self.store.key_by_hash(&hash).await?,
            Credential::SignIn => {
                self.store.sign_in(&hash).await?.map(|SignIn { key, team, .. }| (key, team))
            }
        };
        let hosts = match &found {
            Some((key, _)) => self.store.key_hosts(key.id).await?.unwrap_or_default(),
            None => Vec::new(),
        };
        let now = time::now();
        let known = match found {
            Some((key, _)) if key.revoked_at.is_some() => Known::Invalid,
            Some((key, team)) => match key.expires_at {
                Some(at) if at <= now => {
                    Known::Expired(Arc::new(ExpiredKey { key: key.id, team: team.id, name: key.name, at }))
                }
                _ => {
                    let kind = credential.kind();
                    Known::Caller(Arc::new(Caller {
                        kind,
                        hosts: hosts.into(),
                        ..Caller::new(team, Some(&key), &self.plans)
                    }))
                }
            },
            None => Known::Invalid,
        };
        let mut cached = self.cached.write();
        if self.forgotten.load(Ordering::SeqCst) != generation {
            return Ok(known);
        }
        if cached.len() >= MAX_CACHED_KEYS {
            cached.clear();
        }
        let until = Instant::now() + KEY_CACHE_TIME;
        cached.insert(slot(&hash), CachedKey { hash, known: known.clone(), until });
        Ok(known)
    }
}

/// What a request proves who it is with.
#[derive(Debug, Clone, Copy)]
enum Credential {
    Key,
    SignIn,
}

impl Credential {
    fn kind(self) -> ActorKind {
        match self {
            Self::Key => ActorKind::Key,
            Self::SignIn => ActorKind::SignIn,
        }
    }
}

/// What is stored of the token of a sign-in. Never the hash of a key: one cannot be used as the other.
pub(crate) fn sign_in_hash(token: &str) -> [u8; 32] {
    keys::hash(&format!("sign-in {token}"))
}

fn slot(hash: &[u8; 32]) -> u64 {
    hash.iter().take(8).fold(0, |slot, byte| (slot << 8) | u64::from(*byte))
}
