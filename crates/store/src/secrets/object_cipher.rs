//! Encrypting objects that hold what callers entrusted to the service, with a secret of the server as the key. That
//! secret is itself encrypted in the database, so that neither a copy of the objects nor one of the database is enough.

use crate::{StoreError, StoreResult};
use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use std::fmt;

/// Encrypts and decrypts objects. The key of an object is authenticated with it, so that one cannot stand in for another.
pub struct ObjectCipher(RandomizedNonceKey);

impl fmt::Debug for ObjectCipher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ObjectCipher").finish_non_exhaustive()
    }
}

impl ObjectCipher {
    pub fn new(secret: &[u8; 32]) -> StoreResult<Self> {
        let cipher = RandomizedNonceKey::new(&AES_256_GCM_SIV, secret);
        cipher.map(Self).map_err(|_| StoreError::Misuse("a secret cannot be used as a key".into()))
    }

    pub fn seal(&self, object: &str, plain: &[u8]) -> StoreResult<Vec<u8>> {
        let mut sealed = plain.to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::from(object.as_bytes()), &mut sealed);
        let nonce = nonce.map_err(|_| StoreError::Unavailable("an object could not be encrypted".into()))?;
        Ok([&nonce.as_ref()[..], &sealed].concat())
    }

    /// `None` when it was encrypted with another key, changed, or is another object.
    pub fn open(&self, object: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut plain = sealed.to_vec();
        let length = self.0.open_in_place(nonce, Aad::from(object.as_bytes()), &mut plain).ok()?.len();
        plain.truncate(length);
        Some(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_with_its_key_under_its_name_only() {
        let cipher = ObjectCipher::new(&[1; 32]).unwrap();
        let sealed = cipher.seal("recordings/a", b"picture").unwrap();
        assert!(!sealed.windows(7).any(|part| part == b"picture"));
        assert_eq!(cipher.open("recordings/a", &sealed).as_deref(), Some(&b"picture"[..]));
        assert_eq!(cipher.open("recordings/b", &sealed), None);
        assert_eq!(ObjectCipher::new(&[2; 32]).unwrap().open("recordings/a", &sealed), None);
        assert_eq!(cipher.open("recordings/a", &sealed[..5]), None);
        let mut changed = sealed;
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(cipher.open("recordings/a", &changed), None);
    }
}
