//! The public keys of one issuer: fetched or read from a file, bounded, cached, and fetched again when a token
//! names a key that is not among them.

use crate::Refusal;
use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use net::{Credentials, Deadline, Fetcher, Limits, Purpose, Request};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// An issuer has a handful of keys, of at most 1 KB each.
const MAX_KEYS: usize = 100;
const MAX_SET_BYTES: u64 = 256 * 1024;
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Bounds for what an issuer says about how long its keys may be cached.
const MIN_CACHE_TIME: Duration = Duration::from_mins(10);
const MAX_CACHE_TIME: Duration = Duration::from_hours(24);
/// Between two attempts to fetch: tokens with made-up key ids must not become requests to the issuer.
const FETCH_PAUSE: Duration = Duration::from_secs(30);

/// Where keys come from.
#[derive(Debug, Clone)]
pub enum KeySource {
    Url(String),
    File(PathBuf),
}

#[derive(Debug)]
pub struct KeySet {
    source: KeySource,
    // Held while fetching, so that many tokens at once cause one request.
    cached: Mutex<Option<CachedKeys>>,
}

#[derive(Debug)]
struct CachedKeys {
    keys: Vec<VerificationKey>,
    /// Why the last attempt failed; older keys, if any, are still used until they expire.
    failure: Option<Refusal>,
    fetched_at: Instant,
    expires_at: Instant,
}

#[derive(Debug, Clone)]
struct VerificationKey {
    id: Option<String>,
    key: DecodingKey,
    /// The algorithm that the set states for it.
    algorithm: Option<Algorithm>,
}

#[derive(Debug, Deserialize)]
struct PublishedKeys {
    keys: Vec<Value>,
}

impl KeySet {
    pub fn new(source: KeySource) -> Self {
        Self { source, cached: Mutex::new(None) }
    }

    /// The keys that a token with this key id and algorithm may be signed with.
    pub async fn candidates(
        &self,
        fetcher: &Fetcher,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Vec<DecodingKey>, Refusal> {
        let mut cached = self.cached.lock().await;
        let now = Instant::now();
        let fits = |set: &CachedKeys| set.expires_at > now && !set.fitting(id, algorithm).is_empty();
        let waits = |set: &CachedKeys| set.fetched_at + FETCH_PAUSE > now;
        if !cached.as_ref().is_some_and(|set| fits(set) || waits(set)) {
            let fresh = self.load(fetcher).await;
            let keep = cached.take().filter(|set| set.expires_at > now);
            *cached = Some(match fresh {
                Ok((keys, cache_time)) => {
                    CachedKeys { keys, failure: None, fetched_at: now, expires_at: now + cache_time }
                }
                Err(failure) => {
                    let (keys, expires_at) = keep.map_or((Vec::new(), now), |set| (set.keys, set.expires_at));
                    CachedKeys { keys, failure: Some(failure), fetched_at: now, expires_at }
                }
            });
        }
        let Some(set) = cached.as_ref() else { return Ok(Vec::new()) };
        match (set.fitting(id, algorithm), set.failure) {
            (keys, Some(failure)) if keys.is_empty() => Err(failure),
            (keys, _) => Ok(keys),
        }
    }

    async fn load(&self, fetcher: &Fetcher) -> Result<(Vec<VerificationKey>, Duration), Refusal> {
        match &self.source {
            KeySource::File(path) => {
                let unreadable = Refusal::KeysUnavailable("the file with the issuer's keys cannot be read");
                let bytes = tokio::fs::read(path).await.map_err(|error| {
                    tracing::warn!(%error, file = %path.display(), "cannot read the keys of a trusted issuer");
                    unreadable
                })?;
                // Read again now and then: the operator may replace the file.
                Ok((parse(&bytes)?, MIN_CACHE_TIME))
            }
            KeySource::Url(url) => fetch(fetcher, url).await,
        }
    }
}

impl CachedKeys {
    /// With a key id only keys of that id fit; a token without one may be signed with any.
    fn fitting(&self, id: Option<&str>, algorithm: Algorithm) -> Vec<DecodingKey> {
        let stated = |key: &&VerificationKey| key.algorithm.is_none_or(|stated| stated == algorithm);
        self.keys
            .iter()
            .filter(|key| id.is_none_or(|id| key.id.as_deref() == Some(id)))
            .filter(|key| key.key.family() == algorithm.family())
            .filter(stated)
            .map(|key| key.key.clone())
            .collect()
    }
}

async fn fetch(fetcher: &Fetcher, url: &str) -> Result<(Vec<VerificationKey>, Duration), Refusal> {
    let unavailable = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, url, "cannot fetch the keys of a trusted issuer");
        Refusal::KeysUnavailable("the issuer's public keys could not be fetched")
    };
    let limits = Limits { wire_bytes: MAX_SET_BYTES, body_bytes: MAX_SET_BYTES, ..Limits::default() };
    let request = Request::get(Purpose::Identity, url, Credentials::default())
        .map_err(|error| unavailable(&error))?
        .follow_redirects(false)
        .limits(limits);
    let deadline = Deadline::after(FETCH_TIMEOUT);
    let response = match deadline.run(fetcher.fetch(request, deadline)).await {
        Ok(fetched) => fetched.map_err(|error| unavailable(&error))?,
        Err(_) => return Err(unavailable(&"no response in time")),
    };
    let status = response.meta.head.status;
    if !status.is_success() {
        return Err(unavailable(&format_args!("status {status}")));
    }
    let caching = response.meta.head.headers.get("cache-control").and_then(|value| value.to_str().ok());
    Ok((parse(&response.body)?, cache_time(caching)))
}

/// How long the issuer lets its keys be cached, within our bounds.
fn cache_time(header: Option<&str>) -> Duration {
    let seconds = header
        .unwrap_or_default()
        .split(',')
        .find_map(|part| part.trim().strip_prefix("max-age=")?.parse::<u64>().ok());
    Duration::from_secs(seconds.unwrap_or(0)).clamp(MIN_CACHE_TIME, MAX_CACHE_TIME)
}

/// The usable keys of a set. Keys of kinds that we do not know are skipped: sets hold keys for other purposes.
fn parse(bytes: &[u8]) -> Result<Vec<VerificationKey>, Refusal> {
    let published: PublishedKeys = serde_json::from_slice(bytes)
        .map_err(|_| Refusal::KeysUnavailable("the issuer does not publish a valid set of keys"))?;
    if published.keys.len() > MAX_KEYS {
        return Err(Refusal::KeysUnavailable("the issuer publishes more keys than are accepted"));
    }
    Ok(published.keys.into_iter().filter_map(verification_key).collect())
}

fn verification_key(value: Value) -> Option<VerificationKey> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    let for_encryption = matches!(jwk.common.public_key_use, Some(PublicKeyUse::Encryption));
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    // A published shared secret would let anybody sign.
    if for_encryption || key.family() == AlgorithmFamily::Hmac {
        return None;
    }
    // A key for an algorithm that we do not know is of no use here.
    let algorithm = jwk.common.key_algorithm.map(Algorithm::try_from).transpose().ok()?;
    Some(VerificationKey { id: jwk.common.key_id, key, algorithm })
}
