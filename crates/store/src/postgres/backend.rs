//! PostgreSQL as the common code of the store sees it.

use super::PostgresStore;
use super::retrying::{Connections, Tx};
use crate::StoreResult;
use crate::secrets::Sealer;
use crate::sql::{Backend, Dialect, SqlConnection, SqlQuery, SqlRow, Transaction};
use tokio::sync::watch;
use tracing::Span;

impl SqlConnection for Tx {
    const DIALECT: Dialect = Dialect::Postgres;

    fn span(&mut self, statement: &'static str) -> Span {
        self.span.as_mut().map_or_else(Span::none, |span| span.note(statement))
    }

    async fn execute(&mut self, query: SqlQuery) -> sqlx::Result<u64> {
        Ok(query.into_postgres()?.execute(self).await?.rows_affected())
    }

    async fn fetch_all(&mut self, query: SqlQuery) -> sqlx::Result<Vec<SqlRow>> {
        let found = query.into_postgres()?.fetch_all(self).await?;
        Ok(found.into_iter().map(SqlRow::Postgres).collect())
    }

    async fn fetch_optional(&mut self, query: SqlQuery) -> sqlx::Result<Option<SqlRow>> {
        Ok(query.into_postgres()?.fetch_optional(self).await?.map(SqlRow::Postgres))
    }
}

impl Transaction for Tx {
    async fn commit(self) -> StoreResult<()> {
        Ok(Tx::commit(self).await?)
    }

    /// Old row versions go with the server's own vacuum.
    async fn overwrite_freed_pages(&mut self, _on: bool) -> StoreResult<()> {
        Ok(())
    }
}

/// The pool, where every statement is a transaction of its own.
impl SqlConnection for &Connections {
    const DIALECT: Dialect = Dialect::Postgres;

    async fn execute(&mut self, query: SqlQuery) -> sqlx::Result<u64> {
        Ok(query.into_postgres()?.execute(*self).await?.rows_affected())
    }

    async fn fetch_all(&mut self, query: SqlQuery) -> sqlx::Result<Vec<SqlRow>> {
        let found = query.into_postgres()?.fetch_all(*self).await?;
        Ok(found.into_iter().map(SqlRow::Postgres).collect())
    }

    async fn fetch_optional(&mut self, query: SqlQuery) -> sqlx::Result<Option<SqlRow>> {
        Ok(query.into_postgres()?.fetch_optional(*self).await?.map(SqlRow::Postgres))
    }
}

impl Backend for PostgresStore {
    type Tx = Tx;

    async fn begin(&self) -> StoreResult<Tx> {
        self.write().await
    }

    fn reader(&self) -> impl SqlConnection {
        &self.pool
    }

    fn single(&self) -> impl SqlConnection {
        &self.pool
    }

    fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// The listener does, for this process as for the others.
    fn wake(&self) {}

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.work.subscribe()
    }
}
