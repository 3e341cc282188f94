//! Encrypting and decrypting single values with AES-256-GCM-SIV, each bound to its place.
//!
//! An encrypted value is the id of its key, a random nonce, the ciphertext and the tag. Its place (table, column and row)
//! is authenticated with it, so a value that was copied into another row cannot be read there. Values from before
//! encryption have no mark in front and are read as they are.

use super::key::{KeyId, SecretKey, SecretKeys};
use crate::{StoreError, StoreResult};
use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::fmt;
use std::sync::Arc;

/// What encrypted text begins with, version included. Stored requests and targets begin with `{`, webhook secrets with
/// their own prefix, so no plain value does.
const TEXT_MARK: &str = "sealed:1:";
/// The same for bytes: neither compressed data nor 32 bytes of a server secret look like it.
const BYTES_MARK: &[u8] = b"\0sealed\x01";

/// Where a value is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Table and column.
    pub column: &'static str,
    /// What identifies the row.
    pub row: &'a [u8],
}

impl Place<'_> {
    fn authenticated(&self) -> Aad<Vec<u8>> {
        Aad::from([b"gannet\0", self.column.as_bytes(), b"\0", self.row].concat())
    }
}

/// A value cannot be decrypted: its key is not among those of the process, or it was changed or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// How a stored value is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    Plain,
    CurrentKey,
    OtherKey,
}

#[derive(Clone, Default)]
pub(crate) struct Sealer(Option<Arc<Keys>>);

struct Keys {
    /// The first one encrypts.
    keys: Vec<(KeyId, RandomizedNonceKey)>,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<KeyId> = self.0.iter().flat_map(|keys| keys.keys.iter().map(|(id, _)| *id)).collect();
        out.debug_tuple("Sealer").field(&ids).finish()
    }
}

impl Sealer {
    /// Without keys nothing secret can be written or read.
    pub(crate) fn new(keys: Option<&SecretKeys>) -> StoreResult<Self> {
        let Some(keys) = keys else { return Ok(Self::default()) };
        let cipher = |key: &SecretKey| {
            let derived = key.derive(b"gannet secret key: encryption\0");
            let cipher = RandomizedNonceKey::new(&AES_256_GCM_SIV, &derived);
            let cipher = cipher.map_err(|_| StoreError::Misuse("a secret key cannot be used".into()))?;
            Ok((key.id(), cipher))
        };
        let keys = keys.all().map(cipher).collect::<StoreResult<_>>()?;
        Ok(Self(Some(Arc::new(Keys { keys }))))
    }

    fn keys(&self) -> StoreResult<&Keys> {
        let none = || StoreError::Misuse("this store was opened without a key for secrets".into());
        self.0.as_deref().ok_or_else(none)
    }

    pub(crate) fn seal_text(&self, place: Place<'_>, plain: &str) -> StoreResult<String> {
        Ok(format!("{TEXT_MARK}{}", STANDARD_NO_PAD.encode(self.seal(place, plain.as_bytes(), &[])?)))
    }

    pub(crate) fn seal_bytes(&self, place: Place<'_>, plain: &[u8]) -> StoreResult<Vec<u8>> {
        self.seal(place, plain, BYTES_MARK)
    }

    /// The outer error: there are no keys at all.
    pub(crate) fn open_text(
        &self,
        place: Place<'_>,
        stored: String,
    ) -> StoreResult<Result<String, Unreadable>> {
        let keys = self.keys()?;
        let Some(coded) = stored.strip_prefix(TEXT_MARK) else { return Ok(Ok(stored)) };
        let opened = STANDARD_NO_PAD.decode(coded).map_err(|_| Unreadable);
        let opened = opened.and_then(|sealed| keys.open(place, sealed));
        Ok(opened.and_then(|plain| String::from_utf8(plain).map_err(|_| Unreadable)))
    }

    pub(crate) fn open_bytes(
        &self,
        place: Place<'_>,
        stored: Vec<u8>,
    ) -> StoreResult<Result<Vec<u8>, Unreadable>> {
        let keys = self.keys()?;
        Ok(match stored.strip_prefix(BYTES_MARK) {
            None => Ok(stored),
            Some(sealed) => keys.open(place, sealed.to_vec()),
        })
    }

    pub(crate) fn protection_of_text(&self, stored: &str) -> StoreResult<Protection> {
        let keys = self.keys()?;
        // The id fills the first characters; what cannot be decoded is nobody's.
        let id = |coded: &str| STANDARD_NO_PAD.decode(coded.get(..12)?).ok();
        let sealed = stored.strip_prefix(TEXT_MARK).map(|coded| id(coded).unwrap_or_default());
        Ok(keys.protection(sealed.as_deref()))
    }

    pub(crate) fn protection_of_bytes(&self, stored: &[u8]) -> StoreResult<Protection> {
        Ok(self.keys()?.protection(stored.strip_prefix(BYTES_MARK)))
    }

    fn seal(&self, place: Place<'_>, plain: &[u8], mark: &[u8]) -> StoreResult<Vec<u8>> {
        let broken = || StoreError::Unavailable("a secret could not be encrypted".into());
        let (id, cipher) = self.keys()?.keys.first().ok_or_else(broken)?;
        let mut sealed = plain.to_vec();
        let nonce = cipher.seal_in_place_append_tag(place.authenticated(), &mut sealed);
        let nonce = nonce.map_err(|_| broken())?;
        Ok([mark, &id.0, nonce.as_ref(), &sealed].concat())
    }
}

impl Keys {
    fn open(&self, place: Place<'_>, mut sealed: Vec<u8>) -> Result<Vec<u8>, Unreadable> {
        let head = KeyId::BYTES + NONCE_LEN;
        let (id, nonce) = sealed.get(..head).ok_or(Unreadable)?.split_at(KeyId::BYTES);
        let cipher = self.keys.iter().find(|(known, _)| known.0 == *id).map(|(_, cipher)| cipher);
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unreadable)?;
        let opened =
            cipher.ok_or(Unreadable)?.open_in_place(nonce, place.authenticated(), &mut sealed[head..]);
        let length = opened.map_err(|_| Unreadable)?.len();
        sealed.drain(..head);
        sealed.truncate(length);
        Ok(sealed)
    }

    /// By what stands after the mark; `None` where there is no mark.
    fn protection(&self, sealed: Option<&[u8]>) -> Protection {
        let current = self.keys.first().map(|(id, _)| id.0);
        match sealed {
            None => Protection::Plain,
            Some(sealed) if current.is_some_and(|id| sealed.starts_with(&id)) => Protection::CurrentKey,
            Some(_) => Protection::OtherKey,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place<'_> = Place { column: "table.column", row: b"row" };

    fn key(text: &str) -> SecretKey {
        SecretKey::parse(&text.repeat(32)).unwrap()
    }

    fn sealer(current: &str, previous: &[&str]) -> Sealer {
        let previous = previous.iter().map(|text| key(text)).collect();
        Sealer::new(Some(&SecretKeys { current: key(current), previous })).unwrap()
    }

    #[test]
    fn values_come_back_as_they_went_in_and_look_like_nothing_in_between() {
        let sealer = sealer("01", &[]);
        for plain in
            ["", "x", "{\"headers\":{\"Authorization\":\"Bearer t0ps3cret\"}}", &"long ".repeat(9000)]
        {
            let stored = sealer.seal_text(HERE, plain).unwrap();
            assert!(stored.starts_with(TEXT_MARK) && !stored.contains("t0ps3cret"), "{stored}");
            assert_ne!(sealer.seal_text(HERE, plain).unwrap(), stored, "a nonce of its own each time");
            assert_eq!(sealer.protection_of_text(&stored).unwrap(), Protection::CurrentKey);
            assert_eq!(sealer.open_text(HERE, stored).unwrap().unwrap(), plain);
            let stored = sealer.seal_bytes(HERE, plain.as_bytes()).unwrap();
            assert_eq!(sealer.protection_of_bytes(&stored).unwrap(), Protection::CurrentKey);
            assert_eq!(sealer.open_bytes(HERE, stored).unwrap().unwrap(), plain.as_bytes());
        }
    }

    #[test]
    fn values_from_before_encryption_are_read_as_they_are() {
        let sealer = sealer("01", &[]);
        for plain in ["", "{}", "whsec_abc"] {
            assert_eq!(sealer.protection_of_text(plain).unwrap(), Protection::Plain);
            assert_eq!(sealer.open_text(HERE, plain.into()).unwrap().unwrap(), plain);
        }
        assert_eq!(sealer.open_bytes(HERE, vec![0; 32]).unwrap().unwrap(), [0; 32]);
    }

    #[test]
    fn another_place_another_key_or_a_changed_byte_is_unreadable() {
        let (first, second) = (sealer("01", &[]), sealer("02", &["01"]));
        let stored = first.seal_text(HERE, "secret").unwrap();
        for elsewhere in [Place { row: b"other", ..HERE }, Place { column: "table.other", ..HERE }] {
            assert_eq!(first.open_text(elsewhere, stored.clone()).unwrap(), Err(Unreadable));
        }
        assert_eq!(sealer("02", &[]).open_text(HERE, stored.clone()).unwrap(), Err(Unreadable));
        assert_eq!(
            second.open_text(HERE, stored.clone()).unwrap().unwrap(),
            "secret",
            "a previous key reads"
        );
        assert_eq!(second.protection_of_text(&stored).unwrap(), Protection::OtherKey);
        for cut in [TEXT_MARK.len(), TEXT_MARK.len() + 5, stored.len() - 1] {
            assert_eq!(first.open_text(HERE, stored[..cut].into()).unwrap(), Err(Unreadable));
            assert!(second.protection_of_text(&stored[..cut]).is_ok());
        }
        let mut bytes = first.seal_bytes(HERE, b"secret").unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(first.open_bytes(HERE, bytes).unwrap(), Err(Unreadable));
    }

    #[test]
    fn without_keys_nothing_is_written_or_read() {
        let none = Sealer::new(None).unwrap();
        assert!(none.seal_text(HERE, "x").is_err() && none.open_text(HERE, "x".into()).is_err());
        assert!(none.seal_bytes(HERE, b"x").is_err() && none.open_bytes(HERE, Vec::new()).is_err());
    }
}
