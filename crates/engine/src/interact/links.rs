//! Signed links to sessions: the link is the permission. Made from the id of the session alone, so that every process can
//! make and check them; they open nothing once the session has ended, or its recording is gone.

use crate::{Error, from_store};
use signed_links::LinkSigner;
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
    /// To play its recording.
    Replay,
}

impl LinkPurpose {
    fn name(self) -> &'static str {
        match self {
            Self::Cdp => "cdp",
            Self::View => "view",
            Self::Act => "act",
            Self::Replay => "replay",
        }
    }
}

/// Makes and checks links.
#[derive(Clone)]
pub(super) struct Links {
    signer: LinkSigner,
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
        let secret = store.server_secret(SECRET).await.map_err(from_store)?;
        Ok(Self { signer: LinkSigner::new(secret) })
    }

    /// `base_url` is how the caller reaches this server.
    pub(super) fn of_session(&self, base_url: &str, id: Uuid) -> SessionLinks {
        let socket = base_url.replacen("http", "ws", 1);
        SessionLinks {
            cdp: format!("{socket}/cdp/{id}?token={}", self.token(id, LinkPurpose::Cdp)),
            view: self.of_view(base_url, id),
            act: format!("{base_url}/view/{id}?token={}", self.token(id, LinkPurpose::Act)),
        }
    }

    /// Shows a session to whoever has the link.
    pub(super) fn of_view(&self, base_url: &str, id: Uuid) -> String {
        format!("{base_url}/view/{id}?token={}", self.token(id, LinkPurpose::View))
    }

    /// Plays a page of the recording of a session.
    pub(super) fn of_replay(&self, base_url: &str, id: Uuid, page: usize) -> String {
        format!("{base_url}/replay/{id}?token={}&page={page}", self.token(id, LinkPurpose::Replay))
    }

    /// One picture of it.
    pub(super) fn of_replay_frame(&self, base_url: &str, id: Uuid, page: usize, frame: usize) -> String {
        let token = self.token(id, LinkPurpose::Replay);
        format!("{base_url}/replay/{id}/frames/{page}/{frame}?token={token}")
    }

    fn token(&self, id: Uuid, purpose: LinkPurpose) -> String {
        self.signer.token(purpose.name(), id)
    }

    /// Whether a token was made here.
    pub(super) fn is_valid(&self, id: Uuid, purpose: LinkPurpose, token: &str) -> bool {
        self.signer.is_valid(purpose.name(), id, token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_one_session_for_one_purpose() {
        let links = Links { signer: LinkSigner::new([7; 32]) };
        let id = Uuid::now_v7();
        let made = links.of_session("https://a.example", id);
        assert!(made.cdp.starts_with(&format!("wss://a.example/cdp/{id}?token=")), "{}", made.cdp);
        let (_, token) = made.view.split_once("?token=").unwrap();
        assert!(links.is_valid(id, LinkPurpose::View, token));
        for purpose in [LinkPurpose::Act, LinkPurpose::Cdp] {
            assert!(!links.is_valid(id, purpose, token), "{purpose:?}");
        }
    }
}
