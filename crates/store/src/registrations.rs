//! Keys that agents obtained with an identity assertion: which assertions have been used, and which keys belong to
//! which user of an issuer. Users are known by a hash only.

use crate::audit_log::Actor;
use crate::keys::{ApiKey, NewKey};
use crate::{Millis, StoreResult};

/// SHA-256 of what identifies a user: the issuer and the subject.
pub type UserHash = [u8; 32];

/// A key for a user of an issuer.
#[derive(Debug, Clone)]
pub struct NewRegistration {
    pub user: UserHash,
    /// The client that registered, for people who read the list.
    pub client: String,
    pub key: NewKey,
    /// How many keys of the user stay valid, this one included; older ones are revoked.
    pub max_keys: u32,
}

#[async_trait::async_trait]
pub trait RegistrationStore: Send + Sync + 'static {
    /// Notes that an assertion is used; `false` when it was used before. Of several who present it at once, in
    /// whichever process, one gets `true`. Kept until `until`, when the assertion has expired anyway.
    async fn use_assertion(&self, assertion: &[u8; 32], until: Millis) -> StoreResult<bool>;

    /// Creates the key and notes whose it is.
    async fn register(&self, registration: NewRegistration, by: &Actor) -> StoreResult<ApiKey>;

    /// Revokes every key of a user; how many were valid until now.
    async fn revoke_user(&self, user: &UserHash, by: &Actor) -> StoreResult<u64>;

    /// Deletes up to `limit` assertions that have expired, and as many keys of users that expired more than a day
    /// ago; how many of whichever were more.
    async fn purge_registrations(&self, limit: u32) -> StoreResult<u64>;
}
