//! Signed links to sessions: the link is the permission. Made from the id of the session alone, so that every process can
//! make and check them; they open nothing once the session has ended.

use crate::{Error, from_store};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::ServerSecrets;
use uuid::Uuid;

const SECRET: &str = "browser-sessions";

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPurpose {
    /// To speak to the browser.
    Cdp,
    /// To look at the session.
    View,
    /// To look at it and to act in it.
    Act,
}

impl LinkPurpose {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Cdp => b"cdp",
            Self::View => b"view",
            Self::Act => b"act",
        }
    }
}

/// Makes and checks links.
#[derive(Clone)]
pub(super) struct Links {
    secret: [u8; 32],
}

/// The links of one session.
#[derive(Debug, Clone)]
pub(super) struct SessionLinks {
    pub(super) cdp: String,
    pub(super) view: String,
    pub(super) act: String,
}

impl Links {
    pub(super) async fn open(store: &dyn ServerSecrets) -> Result<Self, Error> {
        Ok(Self { secret: store.server_secret(SECRET).await.map_err(from_store)? })
    }

    /// `base_url` is how the caller reaches this server.
    pub(super) fn of_session(&self, base_url: &str, id: Uuid) -> SessionLinks {
        let socket = base_url.replacen("http", "ws", 1);
        SessionLinks {
            cdp: format!("{socket}/cdp/{id}?token={}", self.token(id, LinkPurpose::Cdp)),
            view: format!("{base_url}/view/{id}?token={}", self.token(id, LinkPurpose::View)),
            act: format!("{base_url}/view/{id}?token={}", self.token(id, LinkPurpose::Act)),
        }
    }

    fn token(&self, id: Uuid, purpose: LinkPurpose) -> String {
        URL_SAFE_NO_PAD.encode(self.signature(id, purpose).finalize().into_bytes())
    }

    /// Whether a token was made here, compared in constant time.
    pub(super) fn is_valid(&self, id: Uuid, purpose: LinkPurpose, token: &str) -> bool {
        let Ok(signature) = URL_SAFE_NO_PAD.decode(token) else { return false };
        self.signature(id, purpose).verify_slice(&signature).is_ok()
    }

    fn signature(&self, id: Uuid, purpose: LinkPurpose) -> Hmac<Sha256> {
        // A key of any length will do, so this cannot fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).unwrap_or_else(|_| unreachable!());
        mac.update(purpose.name());
        mac.update(&[0]);
        mac.update(id.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_one_session_for_one_purpose() {
        let links = Links { secret: [7; 32] };
        let (id, other) = (Uuid::now_v7(), Uuid::now_v7());
        let token = links.token(id, LinkPurpose::View);
        assert!(links.is_valid(id, LinkPurpose::View, &token));
        assert!(
            !links.is_valid(id, LinkPurpose::Act, &token) && !links.is_valid(id, LinkPurpose::Cdp, &token)
        );
        assert!(!links.is_valid(other, LinkPurpose::View, &token));
        assert!(!Links { secret: [8; 32] }.is_valid(id, LinkPurpose::View, &token));
        for wrong in ["", "x", "====", &token[1..]] {
            assert!(!links.is_valid(id, LinkPurpose::View, wrong), "{wrong}");
        }
        let made = links.of_session("https://a.example", id);
        assert!(made.cdp.starts_with(&format!("wss://a.example/cdp/{id}?token=")), "{}", made.cdp);
    }
}
