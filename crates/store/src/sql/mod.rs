//! One body for both databases: every method of the store that does the same on SQLite and on PostgreSQL is
//! written here once, over a [`Backend`], which is what really differs between the two: how a transaction
//! starts, who reads, who wakes the workers.
//!
//! Statements are in one file per entity (`credits.sql`), each under a name, and are used as
//! `tx.query("credits.reserve").bind(…).execute(&mut tx)`. They are written for PostgreSQL; what SQLite says
//! otherwise by rule is translated once (`statements.rs`), and where a statement needs another text on SQLite
//! the file has both.
//!
//! The time in a statement is `gannet_now()`: the database's own clock on PostgreSQL, so that several
//! machines agree; on SQLite the clock of this process, bound when the statement runs. Code here asks for the
//! time itself only where a decision in Rust needs it ([`SqlConnection::now`]).

mod activity;
mod admission;
mod agents;
mod audit_log;
mod authorizations;
mod browser_sessions;
mod ceilings;
mod charges;
pub(crate) mod crawls;
mod credits;
mod idempotency;
mod keys;
mod limits;
mod monitors;
mod objects;
pub(crate) mod pages;
mod profiles;
mod query;
mod registrations;
mod scrapes;
pub(crate) mod search;
pub(crate) mod secrets;
mod sign_ins;
mod snapshots;
mod spans;
mod statements;
mod uploads;
mod webhooks;
mod work;

pub(crate) use query::{BatchQuery, SqlQuery, SqlRow, hex};
pub(crate) use spans::TransactionSpan;

use crate::rows::Columns;
use crate::secrets::Sealer;
use crate::{Millis, StoreResult, clock};
use tokio::sync::watch;

/// The most changes of a total that are added to it at once.
const MAX_FOLDED_CHANGES: i64 = 20_000;

/// Which of the two databases a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// Something that runs statements: a transaction, or connections of a pool.
pub(crate) trait SqlConnection: Send + Sized {
    const DIALECT: Dialect;

    /// Runs a statement; how many rows it changed.
    fn execute(&mut self, query: SqlQuery) -> impl Future<Output = sqlx::Result<u64>> + Send;
    fn fetch_all(&mut self, query: SqlQuery) -> impl Future<Output = sqlx::Result<Vec<SqlRow>>> + Send;
    fn fetch_optional(
        &mut self,
        query: SqlQuery,
    ) -> impl Future<Output = sqlx::Result<Option<SqlRow>>> + Send;

    /// The span of a statement of that name. One for each, but for those of a transaction, which has one for all.
    fn span(&mut self, statement: &'static str) -> tracing::Span {
        spans::statement_span(Self::DIALECT, statement)
    }

    /// A statement by its name, without its arguments.
    fn query(&self, name: &'static str) -> SqlQuery {
        SqlQuery::named(Self::DIALECT, name)
    }

    /// A statement that only takes a lock. SQLite has one writer, which needs none: nothing is run there.
    fn lock(&self, name: &'static str) -> SqlQuery {
        match Self::DIALECT {
            Dialect::Sqlite => SqlQuery::nothing(),
            Dialect::Postgres => SqlQuery::named(Self::DIALECT, name),
        }
    }

    /// One statement for many rows; see [`BatchQuery`].
    fn batch<'r, R>(&self, name: &'static str, rows: &'r [R]) -> BatchQuery<'r, R> {
        BatchQuery::new(Self::DIALECT, name, rows)
    }

    /// The time by the clock that the database's statements use.
    fn now(&mut self) -> impl Future<Output = StoreResult<Millis>> + Send {
        async {
            match Self::DIALECT {
                Dialect::Sqlite => Ok(clock::now()),
                Dialect::Postgres => self.query("base.now").fetch_one(self).await?.int("now"),
            }
        }
    }
}

/// A write transaction. Dropping it undoes it.
pub(crate) trait Transaction: SqlConnection {
    fn commit(self) -> impl Future<Output = StoreResult<()>> + Send;

    /// Tells the workers of all processes, when the transaction commits, that it queued something. On SQLite
    /// this is [`Backend::wake`], after the commit.
    fn announce(&mut self) -> impl Future<Output = StoreResult<()>> + Send {
        async {
            self.lock("base.notify").execute(self).await?;
            Ok(())
        }
    }

    /// Whether pages of an SQLite file that are freed from now on are overwritten with zeros, as what is
    /// deleted inside of a page always is.
    ///
    /// It makes every deleted byte one that is written, so it is on only while something secret or private
    /// goes: for all that is deleted from a full cache, twice as much would be written.
    fn overwrite_freed_pages(&mut self, on: bool) -> impl Future<Output = StoreResult<()>> + Send;
}

/// One of the two databases, as far as the common code needs to know.
pub(crate) trait Backend: Send + Sync + 'static {
    type Tx: Transaction;

    const DIALECT: Dialect = <Self::Tx as SqlConnection>::DIALECT;

    /// Starts a write transaction.
    fn begin(&self) -> impl Future<Output = StoreResult<Self::Tx>> + Send;

    /// Connections for statements that only read.
    fn reader(&self) -> impl SqlConnection;

    /// Connections for a single statement that writes: each is a transaction of its own.
    fn single(&self) -> impl SqlConnection;

    fn sealer(&self) -> &Sealer;

    /// After the commit of a transaction that queued something: tells the workers of this process, where
    /// [`Transaction::announce`] did not.
    fn wake(&self);

    /// Changes whenever work may have arrived.
    fn work_signal(&self) -> watch::Receiver<u64>;

    fn query(&self, name: &'static str) -> SqlQuery {
        SqlQuery::named(Self::DIALECT, name)
    }

    /// A running total of what is stored, which triggers keep.
    fn stored_bytes(&self, kind: &'static str) -> impl Future<Output = StoreResult<i64>> + Send {
        async move { self.query("base.stored_bytes").bind(kind).fetch_one(&mut self.reader()).await?.int("bytes") }
    }

    /// Adds changes of a total to it, so that few are left to be summed up for the next reader. SQLite's one
    /// writer changes the total itself.
    fn fold_stored_bytes(&self, kind: &'static str) -> impl Future<Output = StoreResult<()>> + Send {
        async move {
            let mut single = self.single();
            single
                .lock("base.fold_stored_bytes")
                .bind(kind)
                .bind(MAX_FOLDED_CHANGES)
                .execute(&mut single)
                .await?;
            Ok(())
        }
    }
}
