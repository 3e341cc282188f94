//! The store on SQLite: one file, one writer, a few readers, nothing else to run.
//!
//! All writes go through one connection with `BEGIN IMMEDIATE`, so inside this process they form one
//! queue and never meet a busy database; another process (the command line) that opens the same file
//! waits for its turn at the file's own lock, up to `StoreOptions::wait`.
//!
//! The file is in WAL mode with `synchronous=NORMAL`. A commit is in the operating system's hands
//! before the call returns, so `kill -9` loses nothing. Only when the machine itself stops (power,
//! kernel) may the last moments before it be missing; the file is whole even then, because the log is
//! synced before a checkpoint. `FULL` would close that gap for one disk sync per commit, which makes
//! every claim and finish some milliseconds dearer; who needs it has PostgreSQL.
//!
//! A full disk or a failing one makes SQLite undo a transaction by itself. The driver does not see that and
//! believes it is still inside of it, so such a connection is replaced before it is used again:
//! [`is_usable`].

mod backend;
mod crawls;
mod schema;
mod secrets;

use crate::rows::Columns;
use crate::secrets::Sealer;
use crate::sql::{Backend, Dialect, TransactionSpan};
use crate::{Store, StoreError, StoreOptions, StoreResult, clock, failure};
use sqlx::pool::PoolConnectionMetadata;
use sqlx::sqlite::{
    Sqlite, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Transaction};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tokio::sync::watch;

pub(crate) use schema::{inspect, migrate};
pub(crate) use secrets::key_ids;

/// How a write transaction starts.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// A write transaction. Dropping it undoes it.
#[derive(Debug)]
pub(crate) struct Tx(Transaction<'static, Sqlite>, Option<TransactionSpan>);

impl Tx {
    async fn begin(writer: &SqlitePool) -> sqlx::Result<Self> {
        Ok(Self(writer.begin_with(BEGIN).await?, None))
    }

    async fn commit(self) -> sqlx::Result<()> {
        self.0.commit().await
    }
}

impl Deref for Tx {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.0
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.0
    }
}

#[derive(Debug)]
pub(crate) struct SqliteStore {
    path: PathBuf,
    writer: SqlitePool,
    readers: SqlitePool,
    work: watch::Sender<u64>,
    sealer: Sealer,
    /// Private rows were deleted, and what was written of them may still stand in the log.
    log_must_be_emptied: AtomicBool,
}

impl SqliteStore {
    pub(crate) async fn open(path: &Path, options: &StoreOptions) -> StoreResult<Self> {
        migrate(path, options).await?;
        let pool = |connections: u32| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(options.wait)
                .idle_timeout(None)
                .max_lifetime(None)
                .test_before_acquire(false)
                .before_acquire(|connection, about| {
                    let usable = is_usable(connection, &about);
                    Box::pin(async move { Ok(usable) })
                })
        };
        // 6 MB of the file in memory: the one writer finds the addresses of a large crawl without reading
        // them again.
        let writing = connection(path, options).pragma("cache_size", "-6144").pragma("secure_delete", "FAST");
        let writer = pool(1).connect_with(writing).await?;
        let check = sqlx::query("SELECT written_at FROM write_check WHERE id = 1").fetch_one(&writer).await?;
        clock::go_on_from(check.int("written_at")?);
        let reading = connection(path, options).create_if_missing(false).pragma("query_only", "ON");
        let readers = pool(options.max_connections.max(1)).connect_lazy_with(reading);
        Ok(Self {
            path: path.to_owned(),
            writer,
            readers,
            work: watch::Sender::new(0),
            sealer: Sealer::new(options.secret_keys.as_ref())?,
            log_must_be_emptied: AtomicBool::new(false),
        })
    }

    async fn write(&self) -> StoreResult<Tx> {
        let span = TransactionSpan::start(Dialect::Sqlite);
        let mut tx = Tx::begin(&self.writer).await?;
        tx.1 = Some(span);
        Ok(tx)
    }

    /// Tells this process's workers that there may be work.
    fn wake(&self) {
        self.work.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The same after a transaction that may have queued something.
    fn wake_if(&self, queued: bool) {
        if queued {
            self.wake();
        }
    }
}

/// Whether a connection that comes out of its pool can be trusted. What was open on it was rolled back before
/// it went in, so one that still counts a transaction failed to: the database had undone it already, and
/// every later one would be refused.
fn is_usable(connection: &SqliteConnection, about: &PoolConnectionMetadata) -> bool {
    let usable = !connection.is_in_transaction() && !failure::is_suspicious(about.age);
    if !usable {
        tracing::warn!("a database connection is in doubt and is replaced");
    }
    usable
}

/// How every connection is set up.
fn connection(path: &Path, options: &StoreOptions) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(options.wait)
        .foreign_keys(true)
        // The log shrinks again after a burst, and sorting never writes to a temporary file.
        .pragma("journal_size_limit", "67108864")
        .pragma("temp_store", "MEMORY")
        // 16 MB: pages that many records change are written back once for all of them.
        .pragma("wal_autocheckpoint", "4000")
        .disable_statement_logging()
}

/// Makes the file readable by its owner only, before SQLite would make it as the umask says. Its
/// companions (`-wal`, `-shm`) take over its permissions.
fn create_private(path: &Path) -> StoreResult<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => failure::of_file(&format!("cannot make {}", path.display()), made.map(|_| ())),
    }
}

/// Runs a step again while another process holds the file. The busy timeout does not cover every case:
/// switching a new file to WAL answers "locked" at once.
async fn retry_while_busy<T, F: Future<Output = StoreResult<T>>>(
    wait: Duration,
    step: impl Fn() -> F,
) -> StoreResult<T> {
    let end = Instant::now() + wait;
    loop {
        match step().await {
            Err(StoreError::Unavailable(_)) if Instant::now() < end => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            done => return done,
        }
    }
}

#[async_trait::async_trait]
impl Store for SqliteStore {
    fn backend(&self) -> &'static str {
        "sqlite"
    }

    async fn ping(&self) -> StoreResult<()> {
        if !self.path.exists() {
            return Err(StoreError::Unavailable(format!("{} is gone", self.path.display())));
        }
        self.query("base.write_check").execute(&mut self.single()).await?;
        Ok(())
    }

    async fn schema_version(&self) -> StoreResult<i64> {
        self.query("base.schema_version").fetch_one(&mut self.reader()).await?.int("version")
    }

    async fn size_bytes(&self) -> StoreResult<u64> {
        let mut total = 0;
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            match tokio::fs::metadata(&name).await {
                Ok(metadata) => total += metadata.len(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !suffix.is_empty() => {}
                Err(error) => return Err(StoreError::Unavailable(error.to_string())),
            }
        }
        Ok(total)
    }

    async fn reusable_bytes(&self) -> StoreResult<u64> {
        let row = self.query("base.reusable").fetch_one(&mut self.reader()).await?;
        Ok(row.int("bytes")?.unsigned_abs())
    }

    async fn release_space(&self) -> StoreResult<()> {
        let mut connection = self.writer.acquire().await?;
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&mut *connection).await?;
        Ok(())
    }

    async fn shut_down(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
