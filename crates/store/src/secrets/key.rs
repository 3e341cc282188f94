//! Keys that secrets are encrypted with, as operators write them.

use crate::{StoreError, StoreResult};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use std::fmt;

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// 32 random bytes that secrets are encrypted with.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; KEY_BYTES]);

impl SecretKey {
    pub fn random() -> StoreResult<Self> {
        random_bytes().map(Self)
    }

    /// 64 hexadecimal digits, or 32 bytes in base64 with either alphabet.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let from_base64 = || {
            [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
                .iter()
                .find_map(|alphabet| alphabet.decode(text).ok())
        };
        let bytes = from_hex(text).or_else(from_base64);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Self)
            .ok_or("must be 32 bytes in base64 or hexadecimal, such as `openssl rand -base64 32` prints")
    }

    /// As [`SecretKey::parse`] reads it.
    pub fn to_text(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// Names the key without telling anything about it.
    pub fn id(&self) -> KeyId {
        let hash = self.derive(b"gannet secret key: id\0");
        let mut id = [0; KeyId::BYTES];
        id.copy_from_slice(&hash[..KeyId::BYTES]);
        KeyId(id)
    }

    /// Another key made from this one, for one purpose.
    pub(super) fn derive(&self, purpose: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(purpose);
        hash.update(self.0);
        hash.finalize().into()
    }
}

/// Random bytes from the system, for a key or a secret of the server.
pub(crate) fn random_bytes() -> StoreResult<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Unavailable(format!("no randomness from the system: {error}")))?;
    Ok(bytes)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len() == KEY_BYTES * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    is_hex.then(|| (0..text.len()).step_by(2).map(pair).collect())?
}

/// A key never reaches a log; its id may.
impl fmt::Debug for SecretKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SecretKey({})", self.id())
    }
}

/// What a key is called: in front of what it encrypted, in the list of keys of a database, and to people.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(super) [u8; Self::BYTES]);

impl KeyId {
    pub(super) const BYTES: usize = 8;

    pub(crate) fn from_bytes(bytes: &[u8]) -> StoreResult<Self> {
        let id = bytes.try_into();
        id.map(Self).map_err(|_| StoreError::Database("the id of a secret key has another length".into()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "KeyId({self})")
    }
}

/// The keys of a process: one encrypts, all of them decrypt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretKeys {
    pub current: SecretKey,
    /// Keys that were current before: what they encrypted can still be read.
    pub previous: Vec<SecretKey>,
}

impl SecretKeys {
    pub fn new(current: SecretKey) -> Self {
        Self { current, previous: Vec::new() }
    }

    pub fn all(&self) -> impl Iterator<Item = &SecretKey> {
        std::iter::once(&self.current).chain(&self.previous)
    }

    pub fn has(&self, id: KeyId) -> bool {
        self.all().any(|key| key.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_in_the_forms_that_tools_print() {
        let key = SecretKey([0xfb; 32]);
        assert_eq!(SecretKey::parse(&key.to_text()), Ok(key.clone()));
        assert_eq!(SecretKey::parse(&"fB".repeat(32)), Ok(key.clone()));
        assert_eq!(SecretKey::parse(&format!(" {}\n", URL_SAFE_NO_PAD.encode([0xfb; 32]))), Ok(key));
        for wrong in ["", "secret", &"ab".repeat(31), &"zz".repeat(32), &STANDARD.encode([1; 33])] {
            assert!(SecretKey::parse(wrong).is_err(), "{wrong}");
        }
        assert_ne!(SecretKey::random().unwrap(), SecretKey::random().unwrap());
    }

    #[test]
    fn a_key_shows_its_id_and_nothing_else() {
        let key = SecretKey([7; 32]);
        let shown = format!("{key:?} {:?} {}", SecretKeys::new(key.clone()), key.id());
        assert!(!shown.contains(&key.to_text()) && !shown.contains("0707"), "{shown}");
        assert_ne!(key.id(), SecretKey([8; 32]).id());
    }
}
