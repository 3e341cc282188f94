//! The store on PostgreSQL: the same state shared by many processes on many machines.
//!
//! Every transaction is READ COMMITTED and uses only transaction-scoped locks, so a transaction pooler
//! may sit between (for one that cannot follow prepared statements, add `statement-cache-capacity=0`
//! to the URL). Only the wake-up listener needs a session; without it workers still poll.
//!
//! Locks are taken in one order, so that nobody waits in a circle: a crawl before its entries,
//! rows of one table in the order of their ids, crawls and runs before reservations, reservations before
//! periods, periods before pages, pages before those for search.
//! Times come from the database's clock (`gannet_now()` in the schema).

mod backend;
mod crawls;
mod listen;
mod retrying;
mod schema;
mod secrets;

use crate::rows::Columns;
use crate::secrets::Sealer;
use crate::sql::{Backend, Dialect, TransactionSpan};
use crate::{Store, StoreError, StoreOptions, StoreResult, clock, failure};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqlSafeStr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

use retrying::{Connections, Tx};
pub(crate) use schema::{inspect, migrate};
pub(crate) use secrets::key_ids;

/// A connection that rested this long is tried before it is used: a restarted server or a firewall may
/// have dropped it. Busy ones are not, which saves a round trip per call.
const PING_AFTER_IDLE: Duration = Duration::from_secs(5);

/// A process that stops in the middle of a transaction (suspended, cut off) loses it after this, so
/// that its locks block nobody for good.
const MAX_IDLE_IN_TRANSACTION: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct PostgresStore {
    pool: Connections,
    /// How a write transaction starts; see [`begin`].
    begin: Arc<str>,
    /// The same for the ledger of crawls, and how a look at it starts; see [`crawls::BY_INDEX`].
    begin_ledger: Arc<str>,
    view_ledger: Arc<str>,
    work: watch::Sender<u64>,
    listener: listen::Listener,
    sealer: Sealer,
}

impl PostgresStore {
    pub(crate) async fn open(url: &str, options: &StoreOptions) -> StoreResult<Self> {
        schema::migrate(url, options).await?;
        let connection = connection(url)?;
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections.max(1))
            .acquire_timeout(options.wait)
            .test_before_acquire(false)
            .before_acquire(|connection, rest| {
                Box::pin(async move {
                    // From before the server failed, went into recovery or became read-only: another one may
                    // have its place.
                    if failure::is_suspicious(rest.age) {
                        return Ok(false);
                    }
                    if rest.idle_for > PING_AFTER_IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_with(connection.clone())
            .await?;
        let work = watch::Sender::new(0);
        let listener = listen::Listener::start(connection, options.wait, work.clone());
        // Twice, because a statement may wait for a lock that long and must then still do its work.
        let pool = Connections::new(pool, options.wait * 2);
        let by_index = |start: &str| format!("{start}; {}", crawls::BY_INDEX).into();
        let (write, view) = (begin("READ COMMITTED", options), begin("REPEATABLE READ READ ONLY", options));
        let (begin_ledger, view_ledger) = (by_index(&write), by_index(&view));
        let sealer = Sealer::new(options.secret_keys.as_ref())?;
        Ok(Self { pool, begin: write.into(), begin_ledger, view_ledger, work, listener, sealer })
    }

    async fn write(&self) -> StoreResult<Tx> {
        let span = TransactionSpan::start(Dialect::Postgres);
        let mut tx = self.pool.begin(AssertSqlSafe(self.begin.clone()).into_sql_str()).await?;
        tx.span = Some(span);
        Ok(tx)
    }
}

/// The start of a transaction, with its limits for waiting: in one message, and gone with the
/// transaction. Built from fixed words and numbers only.
fn begin(mode: &'static str, options: &StoreOptions) -> String {
    format!(
        "BEGIN ISOLATION LEVEL {mode}; SET LOCAL lock_timeout = {}; \
         SET LOCAL idle_in_transaction_session_timeout = {}",
        clock::millis(options.wait).clamp(1, 600_000),
        MAX_IDLE_IN_TRANSACTION.as_millis()
    )
}

fn connection(url: &str) -> StoreResult<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url)?.disable_statement_logging();
    // Poolers refuse start-up settings they do not know, and we store no floating-point numbers.
    Ok(options.extra_float_digits(None))
}

#[async_trait::async_trait]
impl Store for PostgresStore {
    fn backend(&self) -> &'static str {
        "postgresql"
    }

    async fn ping(&self) -> StoreResult<()> {
        let row = self.query("base.writable").fetch_one(&mut self.reader()).await?;
        if row.flag("read_only")? {
            failure::raise_suspicion();
            return Err(StoreError::Unavailable("the server is read-only just now".into()));
        }
        Ok(())
    }

    async fn schema_version(&self) -> StoreResult<i64> {
        self.query("base.schema_version").fetch_one(&mut self.reader()).await?.int("version")
    }

    async fn size_bytes(&self) -> StoreResult<u64> {
        let row = self.query("base.size").fetch_one(&mut self.reader()).await?;
        Ok(u64::try_from(row.int("bytes")?).unwrap_or(0))
    }

    async fn reusable_bytes(&self) -> StoreResult<u64> {
        Ok(0)
    }

    async fn release_space(&self) -> StoreResult<()> {
        Ok(())
    }

    async fn shut_down(&self) {
        self.listener.stop();
        self.pool.close().await;
    }
}
