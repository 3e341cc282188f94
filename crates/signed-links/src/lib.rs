//! Tokens in links that are the permission. A token is made from an id and a purpose alone, so every process
//! that knows the secret can make and check it, and nothing is stored for it. What the id stands for decides
//! how long the link works.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use uuid::Uuid;

/// The length of tokens that contain their id: 16 bytes of id and 32 of signature in base64.
pub const TOKEN_WITH_ID_CHARS: usize = 64;

/// Makes and checks tokens.
#[derive(Clone)]
pub struct LinkSigner {
    secret: [u8; 32],
}

impl fmt::Debug for LinkSigner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("LinkSigner")
    }
}

impl LinkSigner {
    pub fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// A token for a link that names the id beside it.
    pub fn token(&self, purpose: &'static str, id: Uuid) -> String {
        URL_SAFE_NO_PAD.encode(self.signature(purpose, id).finalize().into_bytes())
    }

    /// Whether `token` was made here for this purpose and id. Compared in constant time.
    pub fn is_valid(&self, purpose: &'static str, id: Uuid, token: &str) -> bool {
        let Ok(signature) = URL_SAFE_NO_PAD.decode(token) else { return false };
        self.signature(purpose, id).verify_slice(&signature).is_ok()
    }

    /// A token that contains its id, for links with nothing else.
    pub fn token_with_id(&self, purpose: &'static str, id: Uuid) -> String {
        let mut bytes = id.as_bytes().to_vec();
        bytes.extend_from_slice(&self.signature(purpose, id).finalize().into_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The id in a token, when the token was made here for this purpose.
    pub fn id_from_token(&self, purpose: &'static str, token: &str) -> Option<Uuid> {
        if token.len() != TOKEN_WITH_ID_CHARS {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (id, signature) = bytes.split_first_chunk::<16>()?;
        let id = Uuid::from_bytes(*id);
        self.signature(purpose, id).verify_slice(signature).ok()?;
        Some(id)
    }

    fn signature(&self, purpose: &'static str, id: Uuid) -> Hmac<Sha256> {
        // A key of any length will do, so this cannot fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).unwrap_or_else(|_| unreachable!());
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(id.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_one_id_for_one_purpose() {
        let signer = LinkSigner::new([7; 32]);
        let (id, other) = (Uuid::now_v7(), Uuid::now_v7());
        let token = signer.token("view", id);
        assert!(signer.is_valid("view", id, &token));
        assert!(!signer.is_valid("act", id, &token) && !signer.is_valid("view", other, &token));
        assert!(!LinkSigner::new([8; 32]).is_valid("view", id, &token));
        for wrong in ["", "x", "====", &token[1..]] {
            assert!(!signer.is_valid("view", id, wrong), "{wrong}");
        }
        assert_eq!(format!("{signer:?}"), "LinkSigner");
    }

    #[test]
    fn a_token_can_contain_its_id() {
        let signer = LinkSigner::new([7; 32]);
        let id = Uuid::now_v7();
        let token = signer.token_with_id("confirm", id);
        assert_eq!(token.len(), TOKEN_WITH_ID_CHARS);
        assert_eq!(signer.id_from_token("confirm", &token), Some(id));
        assert_eq!(signer.id_from_token("unsubscribe", &token), None);
        assert_eq!(LinkSigner::new([8; 32]).id_from_token("confirm", &token), None);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(signer.id_from_token("confirm", &changed), None, "{changed}");
        }
        for wrong in ["", &token[1..], &format!("{token}A"), &"é".repeat(32)] {
            assert_eq!(signer.id_from_token("confirm", wrong), None, "{wrong}");
        }
    }
}
