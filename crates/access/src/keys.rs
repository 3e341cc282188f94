//! API keys: how they are made, hashed and shown. A key is `gn-` and 32 random bytes; only its SHA-256
//! is stored. High-entropy secrets need no slow hash, and a fast one costs a request nothing.

use crate::audit_log::Actor;
use sha2::{Digest, Sha256};
use std::time::Duration;
use store::keys::NextSecret;
pub use store::keys::{ApiKey, KeyChange, KeyHosts, NewKey, ReplacedSecret};
use store::{KeyStore, Millis, StoreResult};
use uuid::Uuid;
use wire::Scope;

const PREFIX: &str = "gn-";
/// Letters and digits only: the JavaScript client sends the key as a WebSocket sub-protocol, which
/// must be a token, and people select it with a double click.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 32 bytes are 256 bits; 43 digits of base 62 hold 256.03.
const DIGITS: usize = 43;

/// How long a secret goes on working that was replaced, where nothing else is said.
pub const DEFAULT_PHASE_OUT_HOURS: u32 = 24;
pub const MAX_PHASE_OUT_HOURS: u32 = 720;
/// Hosts that one key is held to.
const MAX_HOSTS: usize = 100;
const MAX_HOST_BYTES: usize = 253;
/// What a key that is held to hosts may not do: sessions and monitors are shared with other keys of the team, and an
/// administrator could make a key without that bound.
const NOT_HELD: [Scope; 3] = [Scope::Interact, Scope::Monitor, Scope::Admin];
/// Why a key is not changed.
pub const ENDED: &str = "the key is expired or revoked; create a new one";
pub const OF_CLIENT: &str = "the key belongs to an application, which renews it by itself";

/// A key in the clear. Shown to a person once; never logged: `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Secret({})", self.hint())
    }
}

impl Secret {
    /// 32 bytes of the operating system's randomness, written in base 62.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(PREFIX.len() + DIGITS);
        text.push_str(PREFIX);
        for _ in 0..DIGITS {
            // Long division of the 256-bit number by 62, one digit a round.
            let mut rest: u32 = 0;
            for byte in &mut bytes {
                let value = (rest << 8) | u32::from(*byte);
                *byte = u8::try_from(value / 62).unwrap_or_default();
                rest = value % 62;
            }
            text.push(char::from(ALPHABET[rest as usize]));
        }
        Ok(Self(text))
    }

    /// A key that an operator chose. Long enough not to be guessed, and a token on the wire.
    pub fn chosen(text: &str) -> Result<Self, String> {
        let legal = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !legal {
            return Err("an API key may hold only letters, digits, `-`, `_` and `.`".to_owned());
        }
        if text.len() < 16 || text.len() > 256 {
            return Err("an API key must have 16 to 256 characters".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    /// Enough to tell keys apart, too little to use one.
    pub fn hint(&self) -> String {
        self.0.chars().take(7).collect::<String>() + "…"
    }
}

pub fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// What a key that is held to hosts gets when nothing is said: all that it can be held at.
pub fn held_scopes() -> Vec<Scope> {
    Scope::ALL.iter().copied().filter(|scope| !NOT_HELD.contains(scope)).collect()
}

/// Everything a key may do but administration; what a new key gets when nothing is said.
pub fn ordinary_scopes() -> Vec<Scope> {
    Scope::ALL.iter().copied().filter(|scope| *scope != Scope::Admin).collect()
}

/// Makes a key for a team and stores its hash.
pub async fn create(
    store: &dyn KeyStore,
    team: Uuid,
    name: &str,
    scopes: &[Scope],
    expires_at: Option<Millis>,
    secret: &Secret,
    by: &Actor,
) -> StoreResult<ApiKey> {
    create_held(store, new_key(team, name, scopes, expires_at, secret), Vec::new(), by).await
}

/// The same for a key that may reach these hosts only, which are as [`parse_hosts`] returned them; all where there are
/// none.
pub async fn create_held(
    store: &dyn KeyStore,
    key: NewKey,
    hosts: Vec<String>,
    by: &Actor,
) -> StoreResult<ApiKey> {
    store.create_key(NewKey { hosts, ..key }, by).await
}

/// Hosts that a key may be held to: names, addresses, and `*.` before a name for everything below it. An error that says
/// what is wrong with them.
pub fn parse_hosts(hosts: &[String], scopes: &[Scope]) -> Result<Vec<String>, String> {
    if hosts.is_empty() || hosts.len() > MAX_HOSTS {
        return Err(format!("must name 1 to {MAX_HOSTS} hosts"));
    }
    if let Some(scope) = scopes.iter().find(|scope| NOT_HELD.contains(scope)) {
        let name = scope.name();
        return Err(format!("cannot be held by a key with the scope {name}; leave {name} out of its scopes"));
    }
    hosts.iter().map(|text| parse_host(text).ok_or_else(|| format!("`{text}` is not a host"))).collect()
}

fn parse_host(text: &str) -> Option<String> {
    let text = text.trim();
    let (below, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
    let host = url::Host::parse(name.strip_suffix('.').unwrap_or(name)).ok()?;
    let plain = host.to_string();
    let fits = match host {
        url::Host::Domain(_) => {
            plain.len() <= MAX_HOST_BYTES
                && plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
        url::Host::Ipv4(_) | url::Host::Ipv6(_) => !below,
    };
    fits.then(|| if below { format!("*.{plain}") } else { plain })
}

pub fn new_key(
    team: Uuid,
    name: &str,
    scopes: &[Scope],
    expires_at: Option<Millis>,
    secret: &Secret,
) -> NewKey {
    NewKey {
        id: Uuid::now_v7(),
        team_id: team,
        name: name.to_owned(),
        hint: secret.hint(),
        hash: secret.hash(),
        scopes: scopes.iter().map(|scope| scope.name().to_owned()).collect(),
        expires_at,
        hosts: Vec::new(),
    }
}

/// Gives a key of a team a new secret; the one before goes on working for `phase_out`.
pub async fn rotate(
    store: &dyn KeyStore,
    team: Uuid,
    key: Uuid,
    phase_out: Duration,
    expires_at: Option<Millis>,
    secret: &Secret,
    by: &Actor,
) -> StoreResult<KeyChange> {
    let next = NextSecret { hint: secret.hint(), hash: secret.hash(), phase_out, expires_at };
    store.rotate_key(team, key, next, by).await
}

/// Holds a key of a team to other hosts, which are as [`parse_hosts`] returned them; to none where there are none.
pub async fn set_hosts(
    store: &dyn KeyStore,
    team: Uuid,
    key: Uuid,
    hosts: &[String],
    by: &Actor,
) -> StoreResult<KeyChange> {
    store.set_key_hosts(team, key, hosts, by).await
}

/// The scopes of a key, but those that no version of ours knows.
pub fn scopes_of(key: &ApiKey) -> Vec<Scope> {
    Scope::ALL.iter().copied().filter(|scope| key.scopes.iter().any(|name| name == scope.name())).collect()
}

/// The status of a key now.
pub fn status(key: &ApiKey, now: Millis) -> &'static str {
    if key.revoked_at.is_some() {
        "revoked"
    } else if key.expires_at.is_some_and(|end| end <= now) {
        "expired"
    } else {
        "active"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_keys_are_long_distinct_tokens() {
        let first = Secret::random().unwrap();
        let second = Secret::random().unwrap();
        assert_ne!(first, second);
        assert_eq!(first.reveal().len(), 46);
        assert!(Secret::chosen(first.reveal()).is_ok());
        assert!(!format!("{first:?}").contains(&first.reveal()[8..]));
    }

    #[test]
    fn hosts_are_written_plainly() {
        let parse = |text: &str| parse_hosts(&[text.to_owned()], &[Scope::Scrape]);
        for (text, plain) in [
            ("Example.ORG", "example.org"),
            (" *.example.org ", "*.example.org"),
            ("bücher.example.", "xn--bcher-kva.example"),
            ("127.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(parse(text).unwrap(), [plain]);
        }
        for wrong in [
            "",
            "*",
            "*.",
            "a b",
            "http://a.example",
            "a.example:80",
            "a.example/x",
            "*.127.0.0.1",
            "a*.example",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse_hosts(&["a.example".to_owned()], &[Scope::Scrape, Scope::Interact]).is_err());
        assert!(parse_hosts(&[], &[Scope::Scrape]).is_err());
    }

    #[test]
    fn chosen_keys_must_be_long_tokens() {
        assert!(Secret::chosen("short").is_err());
        assert!(Secret::chosen("sixteen chars ok").is_err());
        assert!(Secret::chosen("fc-0123456789abcdef").is_ok());
    }
}
