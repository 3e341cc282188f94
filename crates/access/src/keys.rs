//! API keys: how they are made, hashed and shown. A key is `gn-` and 32 random bytes; only its SHA-256
//! is stored. High-entropy secrets need no slow hash, and a fast one costs a request nothing.

use sha2::{Digest, Sha256};
pub use store::keys::ApiKey;
use store::keys::NewKey;
use store::{KeyStore, Millis, StoreResult};
use uuid::Uuid;
use wire::Scope;

const PREFIX: &str = "gn-";
/// Letters and digits only: the JavaScript client sends the key as a WebSocket sub-protocol, which
/// must be a token, and people select it with a double click.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 32 bytes are 256 bits; 43 digits of base 62 hold 256.03.
const DIGITS: usize = 43;

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
) -> StoreResult<ApiKey> {
    store.create_key(new_key(team, name, scopes, expires_at, secret)).await
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
    }
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
    fn chosen_keys_must_be_long_tokens() {
        assert!(Secret::chosen("short").is_err());
        assert!(Secret::chosen("sixteen chars ok").is_err());
        assert!(Secret::chosen("fc-0123456789abcdef").is_ok());
    }
}
