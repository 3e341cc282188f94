//! The addresses of what messages link to. Each is signed and is the permission by itself: for the diff page
//! of a check, the timeline and the feed of a monitor, and for confirming or ending the subscription of a
//! recipient.

use signed_links::LinkSigner;
use uuid::Uuid;

/// What a link opens, and what its id is the id of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotificationLink {
    /// Of a recipient's subscription.
    Confirm,
    /// Of a recipient's subscription.
    Unsubscribe,
    /// Of a check.
    Diff,
    /// Of a monitor.
    Timeline,
    /// Of a monitor.
    Feed,
}

impl NotificationLink {
    pub const ALL: [Self; 5] = [Self::Confirm, Self::Unsubscribe, Self::Diff, Self::Timeline, Self::Feed];

    /// The path below the server's address, without the token.
    pub fn path(self) -> &'static str {
        match self {
            Self::Confirm => "/monitor/email/confirm",
            Self::Unsubscribe => "/monitor/email/unsubscribe",
            Self::Diff => "/monitor/diff",
            Self::Timeline => "/monitor/timeline",
            Self::Feed => "/monitor/feed.xml",
        }
    }

    /// What is signed; never changes, or links in mails that were sent stop working.
    fn purpose(self) -> &'static str {
        match self {
            Self::Confirm => "monitor-confirm",
            Self::Unsubscribe => "monitor-unsubscribe",
            Self::Diff => "monitor-diff",
            Self::Timeline => "monitor-timeline",
            Self::Feed => "monitor-feed",
        }
    }
}

/// Makes and checks links.
#[derive(Debug, Clone)]
pub struct NotificationLinks {
    signer: LinkSigner,
    base_url: String,
}

impl NotificationLinks {
    /// `base_url` is how people reach this server, without a slash at its end.
    pub fn new(secret: [u8; 32], base_url: &str) -> Self {
        Self { signer: LinkSigner::new(secret), base_url: base_url.trim_end_matches('/').to_owned() }
    }

    /// The same links for readers who reach this server by another address.
    #[must_use]
    pub fn at(&self, base_url: &str) -> Self {
        Self { signer: self.signer.clone(), base_url: base_url.trim_end_matches('/').to_owned() }
    }

    pub fn url(&self, link: NotificationLink, id: Uuid) -> String {
        format!("{}{}?token={}", self.base_url, link.path(), self.token(link, id))
    }

    pub fn token(&self, link: NotificationLink, id: Uuid) -> String {
        self.signer.token_with_id(link.purpose(), id)
    }

    /// The id in a token, when it was made here for this kind of link.
    pub fn id(&self, link: NotificationLink, token: &str) -> Option<Uuid> {
        self.signer.id_from_token(link.purpose(), token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_what_it_is_for_and_nothing_else() {
        let links = NotificationLinks::new([3; 32], "https://gannet.example/");
        let id = Uuid::now_v7();
        for link in NotificationLink::ALL {
            let url = links.url(link, id);
            assert!(url.starts_with("https://gannet.example/monitor/"), "{url}");
            let (_, token) = url.split_once("?token=").unwrap();
            // The API takes tokens of 16 to 64 characters.
            assert!((16..=64).contains(&token.len()));
            for other in NotificationLink::ALL {
                assert_eq!(links.id(other, token), (other == link).then_some(id), "{link:?} {other:?}");
            }
        }
    }
}
