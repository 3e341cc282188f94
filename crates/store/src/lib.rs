//! State that survives `kill -9`: teams and keys, crawls, agent runs, webhooks, limits, credits, activity,
//! the index of stored objects, and what scrapes leave behind, on SQLite (default) or PostgreSQL behind one trait.
//!
//! Callers see [`Store`] or one of the traits it is made of, and never SQL. The module `sql` has the methods of
//! all traits, once for both databases, and their statements, in one file per entity; `sqlite` and `postgres` have
//! what really differs (connections, claims of crawl entries, migrations). One conformance suite (`tests/`) runs over both, because a behaviour
//! that differs between them is a bug. This crate knows nothing of HTTP and starts no work by itself.
//!
//! All times are milliseconds since the Unix epoch, taken from the database's own clock on
//! PostgreSQL, so that several machines agree on when a lease ends.

pub mod activity;
pub mod admission;
pub mod agents;
pub mod audit_log;
pub mod authorizations;
mod batch;
pub mod browser_sessions;
pub mod ceilings;
mod clock;
#[cfg(feature = "test-clock")]
pub use clock::test_clock::TestClock;
pub mod crawls;
pub mod credits;
pub mod error;
mod failure;
pub mod idempotency;
pub mod keys;
mod ledger;
pub mod limits;
mod migration;
pub mod monitors;
pub mod objects;
mod options;
mod outbox;
pub mod pages;
mod postgres;
pub mod profiles;
pub mod registrations;
mod rows;
pub mod scrapes;
pub mod search;
pub mod secrets;
pub mod sign_ins;
pub mod snapshots;
mod sql;
mod sqlite;
mod text;
pub mod uploads;
pub mod webhooks;
mod weight;
pub mod work;

pub use activity::ActivityStore;
pub use agents::RunStore;
pub use audit_log::AuditStore;
pub use authorizations::AuthorizationStore;
pub use browser_sessions::BrowserSessionStore;
pub use ceilings::CeilingStore;
pub use crawls::CrawlStore;
pub use credits::CreditStore;
pub use error::{FullDisk, StoreError, StoreResult};
pub use idempotency::IdempotencyStore;
pub use keys::KeyStore;
pub use limits::LimitStore;
pub use migration::{AppliedMigration, Inspection, MigrationReport};
pub use monitors::MonitorStore;
pub use objects::ObjectIndex;
pub use options::StoreOptions;
pub use pages::PageStore;
pub use profiles::ProfileStore;
pub use registrations::RegistrationStore;
pub use scrapes::ScrapeStore;
pub use search::SearchStore;
pub use secrets::ServerSecrets;
pub use sign_ins::SignInStore;
pub use snapshots::SnapshotStore;
pub use uploads::UploadStore;
pub use webhooks::WebhookStore;
pub use work::WorkQueue;

use futures_util::future::BoxFuture;
use options::Location;
use std::sync::Arc;

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// Everything the product remembers. Both implementations pass the same suite. Whoever needs one kind of data asks for
/// its trait (`&dyn CreditStore`): a `dyn Store` is one of each.
#[async_trait::async_trait]
pub trait Store:
    KeyStore
    + WorkQueue
    + LimitStore
    + CreditStore
    + ActivityStore
    + ObjectIndex
    + PageStore
    + ScrapeStore
    + SnapshotStore
    + IdempotencyStore
    + ServerSecrets
    + ProfileStore
    + CrawlStore
    + RunStore
    + MonitorStore
    + WebhookStore
    + SearchStore
    + CeilingStore
    + UploadStore
    + RegistrationStore
    + BrowserSessionStore
    + SignInStore
    + AuthorizationStore
    + AuditStore
{
    /// `"sqlite"` or `"postgresql"`, for people and metrics.
    fn backend(&self) -> &'static str;

    /// Is the database there and writable now? Used by `/ready` and `gannet doctor`.
    async fn ping(&self) -> StoreResult<()>;

    /// Version of the newest migration that has been applied.
    async fn schema_version(&self) -> StoreResult<i64>;

    /// Bytes the database takes on disk, for `gannet doctor` and metrics.
    async fn size_bytes(&self) -> StoreResult<u64>;

    /// Bytes of those that are free to be written to again: they count as free although the disk says they are taken.
    /// 0 where the database is on a disk of its own server.
    async fn reusable_bytes(&self) -> StoreResult<u64>;

    /// Gives back what the database can do without, when its disk is short of space.
    async fn release_space(&self) -> StoreResult<()>;

    /// Finishes what is open and closes the connections; later calls fail.
    async fn shut_down(&self);
}

/// Opens the store, bringing its schema up to this version first. With keys for secrets it also refuses a database whose
/// secrets they cannot read, and encrypts what is there in clear.
pub fn open(options: &StoreOptions) -> BoxFuture<'_, StoreResult<Arc<dyn Store>>> {
    Box::pin(async move {
        match options.location()? {
            Location::Sqlite(path) => {
                admitted(sqlite::SqliteStore::open(&path, options).await?, options).await
            }
            Location::Postgres(url) => {
                admitted(postgres::PostgresStore::open(&url, options).await?, options).await
            }
        }
    })
}

async fn admitted(
    store: impl Store + secrets::SecretTables,
    options: &StoreOptions,
) -> StoreResult<Arc<dyn Store>> {
    let Some(keys) = &options.secret_keys else { return Ok(Arc::new(store)) };
    match secrets::admit(&store, keys).await {
        Ok(()) => Ok(Arc::new(store)),
        Err(error) => {
            store.shut_down().await;
            Err(error)
        }
    }
}

/// The keys that secrets in the database are encrypted with, in the order in which they were first used. Changes nothing;
/// a database that is not there yet has none.
pub fn secret_key_ids(options: &StoreOptions) -> BoxFuture<'_, StoreResult<Vec<secrets::KeyId>>> {
    Box::pin(async move {
        match options.location()? {
            Location::Sqlite(path) => sqlite::key_ids(&path, options).await,
            Location::Postgres(url) => postgres::key_ids(&url, options).await,
        }
    })
}

/// Encrypts all secrets with the current key, after which no previous one is needed any more; for `gannet secrets rekey`.
/// No process may be running that encrypts with another key.
pub fn rekey_secrets(options: &StoreOptions) -> BoxFuture<'_, StoreResult<secrets::Resealed>> {
    Box::pin(async move {
        let keys = secrets::keys_of(options.secret_keys.as_ref())?;
        match options.location()? {
            Location::Sqlite(path) => {
                let store = sqlite::SqliteStore::open(&path, options).await?;
                let done = secrets::rekey(&store, keys).await;
                store.shut_down().await;
                done
            }
            Location::Postgres(url) => {
                let store = postgres::PostgresStore::open(&url, options).await?;
                let done = secrets::rekey(&store, keys).await;
                store.shut_down().await;
                done
            }
        }
    })
}

/// Gives up the secrets that no key of this process can read, so that it can start; for `gannet secrets reset`.
pub fn reset_secrets(options: &StoreOptions) -> BoxFuture<'_, StoreResult<secrets::Resealed>> {
    Box::pin(async move {
        let keys = secrets::keys_of(options.secret_keys.as_ref())?;
        match options.location()? {
            Location::Sqlite(path) => {
                let store = sqlite::SqliteStore::open(&path, options).await?;
                let done = secrets::reset(&store, keys).await;
                store.shut_down().await;
                done
            }
            Location::Postgres(url) => {
                let store = postgres::PostgresStore::open(&url, options).await?;
                let done = secrets::reset(&store, keys).await;
                store.shut_down().await;
                done
            }
        }
    })
}

/// Looks at the database without changing it; for `gannet doctor`.
pub fn inspect(options: &StoreOptions) -> BoxFuture<'_, StoreResult<Inspection>> {
    Box::pin(async move {
        match options.location()? {
            Location::Sqlite(path) => sqlite::inspect(&path, options).await,
            Location::Postgres(url) => postgres::inspect(&url, options).await,
        }
    })
}

/// Brings the schema up to this version and says what that took; for `gannet migrate`.
pub fn migrate(options: &StoreOptions) -> BoxFuture<'_, StoreResult<MigrationReport>> {
    Box::pin(async move {
        match options.location()? {
            Location::Sqlite(path) => sqlite::migrate(&path, options).await,
            Location::Postgres(url) => postgres::migrate(&url, options).await,
        }
    })
}
