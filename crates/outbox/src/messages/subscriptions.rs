//! Recipients of mail. A subscription has an id that is made from the monitor and the address; its links are
//! signed, and the store finds the recipient by a hash of the id.

use notifications::email::EmailAddress;
use store::monitors::{Recipient, RecipientStatus};
use stored_data::hashed_keys::KeyHasher;
use uuid::{Builder, Uuid};

/// The id of a recipient's subscription.
pub fn subscription_id(monitor: Uuid, email: &str) -> Uuid {
    let mut key = KeyHasher::new("subscription of a monitor");
    key.add(&monitor.to_string());
    key.add(email);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&key.finish()[..16]);
    Builder::from_random_bytes(bytes).into_uuid()
}

/// What the store finds a recipient by.
pub fn token_hash(subscription: Uuid) -> [u8; 32] {
    let mut key = KeyHasher::new("token of a subscription");
    key.add(&subscription.to_string());
    key.finish()
}

/// Addresses that need no confirmation: domains, or single addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedAddresses(Vec<String>);

impl TrustedAddresses {
    /// Each entry is a domain such as `example.com`, or an address.
    pub fn new(entries: Vec<String>) -> Self {
        Self(entries.into_iter().map(|entry| entry.to_ascii_lowercase()).collect())
    }

    fn contains(&self, email: &str) -> bool {
        let email = email.to_ascii_lowercase();
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        self.0.iter().any(|entry| *entry == email || entry == domain)
    }
}

/// A recipient who is new to a monitor.
pub fn new_recipient(monitor: Uuid, email: &str, trusted: &TrustedAddresses) -> Recipient {
    let is_of_team = trusted.contains(email);
    Recipient {
        email: email.to_owned(),
        status: if is_of_team { RecipientStatus::Confirmed } else { RecipientStatus::Pending },
        is_of_team,
        token_hash: token_hash(subscription_id(monitor, email)),
    }
}

/// An address as it is stored and sent to.
pub fn normal_address(email: &str) -> Result<String, String> {
    EmailAddress::parse(email).map(|email| email.as_str().to_owned()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_operator_need_no_confirmation() {
        let trusted = TrustedAddresses::new(vec!["Example.com".into(), "ann@other.test".into()]);
        let status = |email: &str| new_recipient(Uuid::nil(), email, &trusted).status;
        assert_eq!(status("bob@example.com"), RecipientStatus::Confirmed);
        assert_eq!(status("ann@other.test"), RecipientStatus::Confirmed);
        for outside in ["bob@other.test", "x@sub.example.com", "x@notexample.com"] {
            assert_eq!(status(outside), RecipientStatus::Pending, "{outside}");
        }
        let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
        assert_eq!(subscription_id(one, "a@b.test"), subscription_id(one, "a@b.test"));
        assert_ne!(subscription_id(one, "a@b.test"), subscription_id(other, "a@b.test"));
    }
}
