//! Statements that do not wait for ever. A server that hangs (stopped, cut off from its disk, behind a
//! dead network) keeps its connections open and answers nothing. Its own time limits do not run then,
//! so ours do: whatever is asked is answered, or fails as unavailable.

use crate::sql::TransactionSpan;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryFutureExt, TryStreamExt};
use sqlx::postgres::{PgPool, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Either, Error, Execute, Executor, Postgres, SqlStr, Transaction};
use std::io;
use std::time::Duration;

type Step = Either<PgQueryResult, PgRow>;

async fn within<T>(patience: Duration, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(patience, answer).await.unwrap_or_else(|_| {
        Err(Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no answer from the database server")))
    })
}

/// The pool. A statement that is run on it directly is a transaction of its own.
#[derive(Debug)]
pub(super) struct Connections {
    pool: PgPool,
    /// The longest that one statement may take. Getting a connection has the pool's own limit.
    patience: Duration,
}

impl Connections {
    pub(super) fn new(pool: PgPool, patience: Duration) -> Self {
        Self { pool, patience }
    }

    pub(super) async fn begin(&self, statement: SqlStr) -> Result<Tx, Error> {
        let begun = within(self.patience, self.pool.begin_with(statement)).await?;
        Ok(Tx { transaction: begun, patience: self.patience, span: None })
    }

    /// Runs one statement; a connection that did not answer is not used again.
    async fn run<T>(
        &self,
        statement: impl AsyncFnOnce(&mut sqlx::PgConnection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut connection = self.pool.acquire().await?;
        let answer = within(self.patience, statement(&mut connection)).await;
        if matches!(&answer, Err(Error::Io(_))) {
            connection.close_on_drop();
        }
        answer
    }

    /// Connections that hang are not waited for.
    pub(super) async fn close(&self) {
        let _ = tokio::time::timeout(self.patience, self.pool.close()).await;
    }
}

/// A write transaction. Dropping it undoes it.
#[derive(Debug)]
pub(crate) struct Tx {
    transaction: Transaction<'static, Postgres>,
    patience: Duration,
    pub(super) span: Option<TransactionSpan>,
}

impl Tx {
    /// Without an answer it is not known whether the transaction was committed.
    pub(super) async fn commit(self) -> Result<(), Error> {
        within(self.patience, self.transaction.commit()).await
    }
}

/// What a statement answers with, whole: nothing of it is used before it is all there.
fn whole<'e>(
    answer: impl Future<Output = Result<Vec<Step>, Error>> + Send + 'e,
) -> BoxStream<'e, Result<Step, Error>> {
    answer.map_ok(|steps| stream::iter(steps).map(Ok)).try_flatten_stream().boxed()
}

impl<'c> Executor<'c> for &'c Connections {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Step, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        whole(self.run(async |connection| connection.fetch_many(query).try_collect().await))
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(self.run(async |connection| connection.fetch_optional(query).await))
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        Box::pin(self.run(async |connection| connection.prepare_with(sql, parameters).await))
    }
}

impl<'c> Executor<'c> for &'c mut Tx {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Step, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        whole(within(self.patience, self.transaction.fetch_many(query).try_collect()))
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(within(self.patience, self.transaction.fetch_optional(query)))
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        Box::pin(within(self.patience, self.transaction.prepare_with(sql, parameters)))
    }
}
