//! Secrets at rest: what callers entrusted to the service is encrypted before it reaches a database.
//!
//! Encrypted are the stored requests of crawls, batches and agent runs (they hold headers, cookies, logins and typed
//! passwords), the target of every webhook delivery (address and headers), webhook secrets, the state of browser profiles
//! (cookies and storage), and the server's own secrets. Both backends call the functions of [`Sealer`] where their trait
//! implementations begin and end, so their SQL only ever sees encrypted values.
//!
//! The keys come from the caller of [`crate::open`] and are never written to the database; only their ids are, so that a
//! process with another key is refused when it starts instead of failing at every row.

/// `Debug` for records that hold something secret: only the fields that are named, so that no log holds the others.
macro_rules! debug_only {
    ($($record:ident { $($field:ident),+ })+) => {
        $(
            impl std::fmt::Debug for $record {
                fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    out.debug_struct(stringify!($record))$(.field(stringify!($field), &self.$field))+.finish_non_exhaustive()
                }
            }
        )+
    };
}

mod key;
mod object_cipher;
mod records;
mod reseal;
mod sealer;

pub(crate) use key::random_bytes;
pub use key::{KeyId, SecretKey, SecretKeys};
pub use object_cipher::ObjectCipher;
pub use reseal::Resealed;
pub(crate) use reseal::{Column, KnownKey, SecretRow, SecretTables, Value, admit, keys_of, rekey, reset};
pub(crate) use sealer::Sealer;

use crate::StoreResult;

/// The server's own secrets.
#[async_trait::async_trait]
pub trait ServerSecrets: Send + Sync + 'static {
    /// A random secret: made when it is first asked for, then the same for ever and for all processes on this
    /// database.
    async fn server_secret(&self, name: &str) -> StoreResult<[u8; 32]>;
}
