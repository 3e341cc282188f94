//! State that survives `kill -9`: teams and keys, the job queue, limits, credits, activity, the index
//! of stored objects, and what scrapes leave behind, on SQLite (default) or PostgreSQL behind one trait.
//!
//! Callers see [`Store`] and never SQL. The two modules `sqlite` and `postgres` keep their own SQL
//! files and migrations; one conformance suite (`tests/`) runs over both, because a behaviour that
//! differs between them is a bug. This crate knows nothing of HTTP and starts no work by itself.
//!
//! All times are milliseconds since the Unix epoch, taken from the database's own clock on
//! PostgreSQL, so that several machines agree on when a lease ends.

pub mod activity;
pub mod agents;
mod batch;
pub mod claims;
mod clock;
pub mod crawls;
pub mod credits;
pub mod error;
mod failure;
pub mod jobs;
pub mod keys;
mod ledger;
pub mod limits;
mod migration;
pub mod objects;
mod options;
mod outbox;
pub mod pages;
mod postgres;
pub mod profiles;
mod queue;
mod rows;
pub mod scrapes;
pub mod search;
pub mod snapshots;
mod sqlite;
mod text;
pub mod webhooks;
mod weight;

pub use error::{StoreError, StoreResult};
pub use migration::{AppliedMigration, Inspection, MigrationReport};
pub use options::StoreOptions;

use options::Location;
use std::sync::Arc;

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// Everything the product remembers. Both implementations pass the same suite.
#[async_trait::async_trait]
pub trait Store:
    keys::Keys
    + jobs::Jobs
    + limits::Limits
    + credits::Credits
    + activity::Activity
    + pages::Pages
    + scrapes::Scrapes
    + snapshots::Snapshots
    + claims::Claims
    + profiles::Profiles
    + crawls::Crawls
    + agents::Agents
    + webhooks::Webhooks
    + search::Search
    + Send
    + Sync
    + 'static
{
    /// `"sqlite"` or `"postgresql"`, for people and metrics.
    fn backend(&self) -> &'static str;

    /// Is the database there and writable now? Used by `/ready` and `gannet doctor`.
    async fn ping(&self) -> StoreResult<()>;

    /// Version of the newest migration that has been applied.
    async fn schema_version(&self) -> StoreResult<i64>;

    /// Bytes the database takes on disk, for `gannet doctor` and metrics.
    async fn size_bytes(&self) -> StoreResult<u64>;

    /// Finishes what is open and closes the connections; later calls fail.
    async fn shut_down(&self);
}

/// Opens the store, bringing its schema up to this version first.
pub async fn open(options: &StoreOptions) -> StoreResult<Arc<dyn Store>> {
    match options.location()? {
        Location::Sqlite(path) => Ok(Arc::new(sqlite::SqliteStore::open(&path, options).await?)),
        Location::Postgres(url) => Ok(Arc::new(postgres::PostgresStore::open(&url, options).await?)),
    }
}

/// Looks at the database without changing it; for `gannet doctor`.
pub async fn inspect(options: &StoreOptions) -> StoreResult<Inspection> {
    match options.location()? {
        Location::Sqlite(path) => sqlite::inspect(&path, options).await,
        Location::Postgres(url) => postgres::inspect(&url, options).await,
    }
}

/// Brings the schema up to this version and says what that took; for `gannet migrate`.
pub async fn migrate(options: &StoreOptions) -> StoreResult<MigrationReport> {
    match options.location()? {
        Location::Sqlite(path) => sqlite::migrate(&path, options).await,
        Location::Postgres(url) => postgres::migrate(&url, options).await,
    }
}
